/** The files of the page: bundled from source on first use in this repository, read from the package where it is packed. */
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** A file of the page, by its name: `app-3F2A.js`. */
export interface Asset {
  name: string;
  type: string;
  body: Buffer;
  /** The same, compressed; absent for what does not shrink. */
  encoded: { br: Buffer; gzip: Buffer };
}

/** What the page is bundled from. */
export const SOURCES = path.join(import.meta.dirname, "..", "page");

/** Where `npm run pack` puts the files. */
const PACKED = path.join(import.meta.dirname, "packed");

/** The page's files by name, and those that the document names. */
export interface Assets {
  files: ReadonlyMap<string, Asset>;
  script: string;
  style: string;
  /** What runs in the browser's audio thread. */
  worklet: string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** The page's files, as its sources are now: whoever edits the page only loads it again. */
export class AssetCache {
  readonly #sources: string;
  readonly #isPacked = existsSync(PACKED);
  #latest: { revision: string; assets: Promise<Assets> } | undefined;

  constructor(sources = SOURCES) {
    this.#sources = sources;
  }

  /** Reads or bundles the files, if that is not done yet. @throws Error naming the line that cannot be bundled */
  async read(): Promise<Assets> {
    const revision = this.#isPacked ? "" : await revisionOf(this.#sources);
    if (this.#latest?.revision !== revision) this.#latest = { revision, assets: this.#load() };
    const { assets } = this.#latest;
    try {
      return await assets;
    } catch (error) {
      if (this.#latest?.assets === assets) this.#latest = undefined;
      throw error;
    }
  }

  async #load(): Promise<Assets> {
    const texts = this.#isPacked ? await readPacked() : await bundleSources(this.#sources);
    const files = await Promise.all([...texts].map(([name, body]) => encode(name, body)));
    const find = (beginning: string, end: string) =>
      files.find(({ name }) => name.startsWith(beginning) && name.endsWith(end))?.name ?? "";
    return {
      files: new Map(files.map((file) => [file.name, file])),
      script: find("app-", ".js"),
      style: find("app-", ".css"),
      worklet: find("worklet-", ".js"),
    };
  }
}

/** Another text whenever a file below the folder changed, came or went. */
async function revisionOf(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const files = names.sort().map(async (name) => {
    const { mtimeMs, size } = await stat(path.join(folder, name));
    return `${name} ${mtimeMs} ${size}`;
  });
  return (await Promise.all(files)).join("\n");
}

/** Loaded only here: an installed package has no bundler. */
async function bundleSources(folder: string): Promise<Map<string, Buffer>> {
  const { bundlePage } = await import("../bundle/bundle.ts");
  return bundlePage(folder);
}

async function readPacked(): Promise<Map<string, Buffer>> {
  const names = await readdir(PACKED);
  const read = names.map(async (name) => [name, await readFile(path.join(PACKED, name))] as const);
  return new Map(await Promise.all(read));
}

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
/** Five percent smaller than 9, in a fifth of a second beside the event loop; the best takes twice as long for two percent. */
const BROTLI_QUALITY = 10;

async function encode(name: string, body: Buffer): Promise<Asset> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  const [br, zipped] = await Promise.all([compressBrotli(body, { params }), compressGzip(body)]);
  const type = TYPES[path.extname(name)] ?? "application/octet-stream";
  return { name, type, body, encoded: { br, gzip: zipped } };
}
