/**
 * Datasets on disk, by what they were made of: the same file is read once, in this process or another. What is made is
 * made aside and moved into place, so nobody ever sees half of it.
 *
 * | in the folder | |
 * |---|---|
 * | `<sha256>-<format>-<text index>-<version>.duckdb`, `.json` | a dataset, and its description; the description comes last |
 * | `read/<hash of a path>.json` | which dataset a file of the machine became, by its size and time |
 * | `work/<process>-…/` | what a process is making, and links to the datasets it uses |
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
import { removeLeftOvers, removeOldest } from "./eviction.ts";

/** Grows when the same file would become another dataset. */
const INGEST_VERSION = 4;
const VERSION = `${FORMAT_VERSION}.${INGEST_VERSION}`;

const READ_BYTES = 1 << 20;

/** How much the datasets of a folder take, those that were used last. */
const MOST_BYTES = 16 * 1024 ** 3;

/** A file that fails with less than this free on its disk fails for that. */
const LEAST_FREE_BYTES = 4 << 20;

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
 * Opens the datasets of a folder, which is made if it is not there.
 * @param textIndex what words are found by in the datasets that are made: the same file becomes another dataset for each
 */
export async function openDatasetLibrary(
  { folder, log }: DatasetLibraryOptions,
  textIndex: TextIndex = "fields",
): Promise<DatasetLibrary> {
  const root = path.resolve(folder);
  for (const name of ["work", "read"]) await mkdir(path.join(root, name), { recursive: true, mode: 0o700 });
  await removeLeftOvers(path.join(root, "work"));
  const own = await mkdtemp(path.join(root, "work", `${process.pid}-`));
  return new Library(root, own, textIndex, log);
}

class Library implements DatasetLibrary {
  readonly #root: string;
  /** What this process is making, and what it uses. */
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

  /** What is uploaded is kept for as long as it is used; nobody can name it again. */
  async fromStream(source: DatasetSource, signal?: AbortSignal): Promise<Dataset> {
    const making = await mkdtemp(path.join(this.#own, "making-"));
    try {
      const startedAt = performance.now();
      // Most starts find what an earlier one has made.
      const { ingest } = await import("../ingest/ingest.ts");
      const { file, description } = await ingest(source, making, signal, this.#textIndex);
      const { rows, bytes } = description;
      this.#log.info({ rows, bytes, ms: Math.round(performance.now() - startedAt) }, "a dataset was made");
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
    await this.#keep(dataset);
    await this.#remember(file, stamp, dataset.description.sha256);
    return dataset;
  }

  async close(): Promise<void> {
    await rm(this.#own, { recursive: true, force: true });
  }

  /** The dataset that is kept under a key, in use from here on. */
  async #find(key: string): Promise<{ file: string; description: DatasetDescription } | undefined> {
    const kept = path.join(this.#root, key);
    try {
      const description = descriptionSchema.parse(JSON.parse(await readFile(`${kept}.json`, "utf8")));
      const file = await this.#use(`${kept}.duckdb`);
      const now = wallTime() / 1000;
      await utimes(`${kept}.json`, now, now);
      return { file, description };
    } catch {
      return undefined;
    }
  }

  /** Makes room for a dataset and puts it where every process finds it. */
  async #keep({ file, description }: Dataset): Promise<void> {
    const { size } = await stat(file);
    await removeOldest(this.#root, MOST_BYTES - size);
    const kept = path.join(this.#root, this.#keyOf(description.sha256, description.format));
    await rename(await this.#use(file), `${kept}.duckdb`);
    await replaceFile(`${kept}.json`, JSON.stringify(description), this.#own);
  }

  /** A file of this process's own with the same content, which stays when the library needs the room. */
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

  /** What a file holds, without reading it when it is as it was when it was read last. */
  async #identify(file: string): Promise<{ stamp: string; sha256: string }> {
    const stamp = stampOf(await foundFile(file));
    try {
      const known = readFileSchema.parse(JSON.parse(await readFile(this.#recordOf(file), "utf8")));
      if (known.stamp === stamp) return known;
    } catch {
      // It was never read, or by another version.
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

/** An error where there is hardly any room on the disk of a folder, in words that say so. */
async function unavailableWhenFull(error: unknown, folder: string): Promise<unknown> {
  if (error instanceof DatasetRefusal || error instanceof DatasetTooLarge) return error;
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= LEAST_FREE_BYTES) return error;
  return new WorldUnavailable("the disk that datasets are kept on is full: make room on it, and try again", {
    cause: error,
  });
}

/** What changes when a file does. */
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

/** @throws DatasetRefusal when there is none: it may be told to who named it, without where this machine looked */
async function foundFile(file: string): Promise<BigIntStats> {
  try {
    return await stat(file, { bigint: true });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new DatasetRefusal(
      `there is no file ${path.basename(file)} where it was said to be; a path is relative to the environment file`,
    );
  }
}
