/** The libraries of the twins' datasets, each opened with its first dataset. */
import { tmpdir } from "node:os";
import type { Logger } from "pino";
import { makeTemporaryFolder, type TemporaryFolder } from "../base/temporary-folder.ts";
import type { DatasetLibrary, OpenDatasetLibrary } from "../twin/dataset.ts";

export class Libraries {
  /** Where datasets are kept for the next start; absent: a temporary folder. */
  readonly #folder: string | undefined;
  readonly #log: Logger;
  readonly #opened = new Map<OpenDatasetLibrary, Promise<DatasetLibrary>>();
  #temporary: Promise<TemporaryFolder> | undefined;

  constructor(folder: string | undefined, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  get(open: OpenDatasetLibrary): Promise<DatasetLibrary> {
    let library = this.#opened.get(open);
    if (!library) {
      library = this.#open(open);
      this.#opened.set(open, library);
    }
    return library;
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#opened.values());
    for (const library of opened) if (library.status === "fulfilled") await library.value.close();
    await (await this.#temporary)?.remove();
  }

  async #open(open: OpenDatasetLibrary): Promise<DatasetLibrary> {
    this.#temporary ??=
      this.#folder === undefined ? makeTemporaryFolder(tmpdir(), "offhook-datasets-") : undefined;
    const folder = this.#folder ?? (await this.#temporary)?.path ?? tmpdir();
    return open({ folder, log: this.#log });
  }
}
