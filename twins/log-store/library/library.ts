/**
 * A cache of datasets on disk, keyed by the content of their files: processes share it, and read a file once. A dataset is built in a
 * folder of its own and renamed into place, so that nobody sees half of it.
 *
 * | in the folder | |
 * |---|---|
 * | `<sha256>-<format>-<text index>-<version>.duckdb`, `.json` | a dataset, and its description, which is written last |
 * | `read/<hash of a path>.json` | the hash of a local file, as long as its size and times are the same |
 * | `work/<process>-…/` | what a process is building, and links to the datasets that it uses |
 */
import { createHash } from "node:crypto";
import { type BigIntStats, createReadStream } from "node:fs";
import {
  copyFile,
  link,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  utimes,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { wallTime } from "@offhook/platform/base/clock";
import {
  type Dataset,
  type DatasetDescription,
  type DatasetLibrary,
  type DatasetLibraryOptions,
  DatasetRefusal,
  type DatasetSource,
  DatasetTooLarge,
} from "@offhook/platform/twin/dataset";
import { WorldUnavailable } from "@offhook/platform/world/world";
import { z } from "zod";
import type { TextIndex } from "../fields.ts";
import { likelyFormat, statedFormat } from "../ingest/format.ts";
import { FORMAT_VERSION } from "../store/format.ts";
import { evictDatasets, removeLeftovers } from "./eviction.ts";

/** Incremented when the same file would become another dataset. */
const INGEST_VERSION = 4;
const VERSION = `${FORMAT_VERSION}.${INGEST_VERSION}`;

const READ_BYTES = 1 << 20;

/** Bound of the cache; the least recently used datasets are evicted. */
const MAX_BYTES = 16 * 1024 ** 3;

/** With less free space than this, a failure is put down to the full disk. */
const MIN_FREE_BYTES = 4 << 20;

const columnSchema = z.object({
  name: z.string(),
  type: z.string(),
  multi: z.boolean(),
  note: z.string().exactOptional(),
});

const descriptionSchema: z.ZodType<DatasetDescription> = z.object({
  file_name: z.string().nullable(),
  format: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  created_at: z.string(),
  rows: z.number(),
  columns: z.array(columnSchema),
  time_field: z.string().nullable(),
  time_range: z.object({ from: z.string(), to: z.string() }).nullable(),
  sample: z.array(z.string()),
});

const readFileSchema = z.object({ stamp: z.string(), sha256: z.string() });

/**
 * Opens the library in a folder, which is created when missing.
 * @param textIndex of the datasets that are built: a file becomes another dataset for each
 */
export async function openDatasetLibrary(
  { folder, log }: DatasetLibraryOptions,
  textIndex: TextIndex = "fields",
): Promise<DatasetLibrary> {
  const root = path.resolve(folder);
  for (const name of ["work", "read"]) await mkdir(path.join(root, name), { recursive: true, mode: 0o700 });
  await removeLeftovers(path.join(root, "work"));
  const own = await mkdtemp(path.join(root, "work", `${process.pid}-`));
  return new Library(root, own, textIndex, log);
}

class Library implements DatasetLibrary {
  readonly #root: string;
  /** The folder of this process, for what it builds and uses. */
  readonly #own: string;
  readonly #textIndex: TextIndex;
  readonly #log: DatasetLibraryOptions["log"];
  #uses = 0;

  constructor(root: string, own: string, textIndex: TextIndex, log: DatasetLibraryOptions["log"]) {
    this.#root = root;
    this.#own = own;
    this.#textIndex = textIndex;
    this.#log = log;
  }

  /** An upload is not cached, since nobody can name it again: it stays until it is released. */
  async fromStream(source: DatasetSource, signal?: AbortSignal): Promise<Dataset> {
    const making = await mkdtemp(path.join(this.#own, "making-"));
    try {
      const startedAt = performance.now();
      // Imported on demand: most starts find their datasets in the cache.
      const { ingest } = await import("../ingest/ingest.ts");
      const { file, description } = await ingest(source, making, signal, this.#textIndex);
      const { rows, bytes } = description;
      this.#log.info({ rows, bytes, ms: Math.round(performance.now() - startedAt) }, "built a dataset");
      return this.#dataset(await this.#use(file), description);
    } catch (error) {
      throw await unavailableWhenFull(error, making);
    } finally {
      await rm(making, { recursive: true, force: true });
    }
  }

  async fromFile(file: string, onProgress?: DatasetSource["onProgress"]): Promise<Dataset> {
    const fileName = path.basename(file);
    const stated = statedFormat({ fileName });
    const { stamp, sha256 } = await this.#identify(file);
    const format = stated ?? likelyFormat(await beginningOf(file));
    const found = await this.#find(this.#keyOf(sha256, format));
    if (found) return this.#dataset(found.file, { ...found.description, file_name: fileName });
    const dataset = await this.fromStream({
      bytes: createReadStream(file, { highWaterMark: READ_BYTES }),
      fileName,
      format,
      onProgress,
    });
    await this.#cache(dataset);
    await this.#remember(file, stamp, dataset.description.sha256);
    return dataset;
  }

  async close(): Promise<void> {
    await rm(this.#own, { recursive: true, force: true });
  }

  /** The cached dataset of a key, marked as used. */
  async #find(key: string): Promise<{ file: string; description: DatasetDescription } | undefined> {
    const cached = path.join(this.#root, key);
    try {
      const description = descriptionSchema.parse(JSON.parse(await readFile(`${cached}.json`, "utf8")));
      const file = await this.#use(`${cached}.duckdb`);
      const now = wallTime() / 1000;
      await utimes(`${cached}.json`, now, now);
      return { file, description };
    } catch {
      return undefined;
    }
  }

  /** Adds a dataset to the cache. */
  async #cache({ file, description }: Dataset): Promise<void> {
    const { size } = await stat(file);
    await evictDatasets(this.#root, MAX_BYTES - size);
    const cached = path.join(this.#root, this.#keyOf(description.sha256, description.format));
    await rename(await this.#use(file), `${cached}.duckdb`);
    await replaceFile(`${cached}.json`, JSON.stringify(description), this.#own);
  }

  /** Links a file into this process's folder, where eviction does not reach it. @returns the link, or a copy */
  async #use(file: string): Promise<string> {
    const used = path.join(this.#own, `${++this.#uses}.duckdb`);
    await link(file, used).catch(() => copyFile(file, used));
    return used;
  }

  #dataset(file: string, description: DatasetDescription): Dataset {
    return { file, description, release: () => rm(file, { force: true }) };
  }

  #keyOf(sha256: string, format: string): string {
    return `${sha256}-${format}-${this.#textIndex}-${VERSION}`;
  }

  /** The hash of a file's content. An unchanged file is not read again. */
  async #identify(file: string): Promise<{ stamp: string; sha256: string }> {
    const stamp = stampOf(await statFile(file));
    try {
      const known = readFileSchema.parse(JSON.parse(await readFile(this.#recordOf(file), "utf8")));
      if (known.stamp === stamp) return known;
    } catch {
      // There is no record, or another version wrote it.
    }
    const hash = createHash("sha256");
    await pipeline(createReadStream(file, { highWaterMark: READ_BYTES }), hash);
    const sha256 = hash.digest("hex");
    await this.#remember(file, stamp, sha256);
    return { stamp, sha256 };
  }

  async #remember(file: string, stamp: string, sha256: string): Promise<void> {
    await replaceFile(this.#recordOf(file), JSON.stringify({ stamp, sha256 }), this.#own);
  }

  #recordOf(file: string): string {
    const name = createHash("sha256").update(path.resolve(file)).digest("hex");
    return path.join(this.#root, "read", `${name}.json`);
  }
}

/** Replaces an error by one that names the full disk, when the folder's disk is full. */
async function unavailableWhenFull(error: unknown, folder: string): Promise<unknown> {
  if (error instanceof DatasetRefusal || error instanceof DatasetTooLarge) return error;
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= MIN_FREE_BYTES) return error;
  return new WorldUnavailable("the disk that datasets are kept on is full: make room on it, and try again", {
    cause: error,
  });
}

/** Differs when the file has changed. */
function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].join(" ");
}

/** @param aside a folder on the same disk */
async function replaceFile(file: string, text: string, aside: string): Promise<void> {
  const draft = path.join(await mkdtemp(path.join(aside, "draft-")), path.basename(file));
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
  await rm(path.dirname(draft), { recursive: true, force: true });
}

async function beginningOf(file: string): Promise<Buffer> {
  for await (const chunk of createReadStream(file, { end: 4095 })) return chunk;
  return Buffer.alloc(0);
}

/** @throws DatasetRefusal when there is no such file: its message names no folder of this machine, so the client may see it */
async function statFile(file: string): Promise<BigIntStats> {
  try {
    return await stat(file, { bigint: true });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new DatasetRefusal(
      `there is no file ${path.basename(file)} where it was said to be; a path is relative to the environment file`,
    );
  }
}
