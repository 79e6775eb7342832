/** Reports which files of some folders changed in content, including new and removed ones; batches simultaneous changes. */
import { createHash } from "node:crypto";
import { type Dirent, type FSWatcher, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { join } from "node:path";

/** Debounce time, because editors write a file in several steps. */
const SETTLE_MS = 150;

export interface WatchOptions {
  /** Base folder of all paths. */
  root: string;
  folders: readonly string[];
  isWatched(file: string): boolean;
  /** Something happened, perhaps only to attributes or other files; `onSettled` follows. */
  onChange?(): void;
  /** @param files whose content changed, sorted; often none */
  onSettled(files: string[]): void;
}

/**
 * Watches each folder separately: on Linux, Node's recursive watch loses a file that is replaced by another, which is how
 * many editors save.
 */
export class FolderWatch {
  readonly #options: WatchOptions;
  readonly #watchers = new Map<string, { watcher: FSWatcher; identity: string }>();
  #contents: ReadonlyMap<string, Content>;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#contents = this.#scan(new Map());
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watchers.values()) watcher.close();
  }

  #scheduleScan(): void {
    if (this.#timer !== undefined) return;
    this.#options.onChange?.();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const before = this.#contents;
      this.#contents = this.#scan(before);
      this.#options.onSettled(differences(before, this.#contents));
    }, SETTLE_MS);
  }

  /** Reads the files that may have changed, and watches new folders. */
  #scan(known: ReadonlyMap<string, Content>): Map<string, Content> {
    const { root, folders, isWatched } = this.#options;
    const contents = new Map<string, Content>();
    const found = new Set<string>();
    const walk = (folder: string): void => {
      found.add(folder);
      // Watch before reading, so that no change in between is missed.
      const entries = this.#watch(folder) ? listFolder(join(root, folder)) : [];
      for (const entry of entries) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) walk(path);
        if (!entry.isFile() || !isWatched(path)) continue;
        const content = readContent(join(root, path), known.get(path));
        if (content !== undefined) contents.set(path, content);
      }
    };
    for (const folder of folders) walk(folder);
    for (const [folder, { watcher }] of this.#watchers) {
      if (found.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    return contents;
  }

  /** @returns whether the folder exists */
  #watch(folder: string): boolean {
    const path = join(this.#options.root, folder);
    const identity = ignoreMissing(() => {
      const { dev, ino, birthtimeMs } = statSync(path);
      return `${dev} ${ino} ${birthtimeMs}`;
    });
    const watched = this.#watchers.get(folder);
    if (identity !== undefined && watched?.identity === identity) return true;
    // A new folder of the same name: switching branches removes folders and creates them again.
    watched?.watcher.close();
    this.#watchers.delete(folder);
    if (identity === undefined) return false;
    const watcher = ignoreMissing(() => watch(path, () => this.#scheduleScan()));
    if (watcher === undefined) return false;
    // A removed folder; the watch of its parent reports it.
    watcher.on("error", () => undefined);
    this.#watchers.set(folder, { watcher, identity });
    return true;
  }
}

/** The digest of a file, and the attributes that tell whether to read it again. */
interface Content {
  attributes: string;
  digest: string;
}

function readContent(path: string, known: Content | undefined): Content | undefined {
  return ignoreMissing(() => {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    const attributes = `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
    if (known?.attributes === attributes) return known;
    return { attributes, digest: createHash("sha256").update(readFileSync(path)).digest("base64") };
  });
}

function listFolder(path: string): Dirent[] {
  return ignoreMissing(() => readdirSync(path, { withFileTypes: true })) ?? [];
}

/** Runs `read`. @returns `undefined` when the file or folder does not exist */
function ignoreMissing<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function differences(before: ReadonlyMap<string, Content>, after: ReadonlyMap<string, Content>): string[] {
  const files = new Set([...before.keys(), ...after.keys()]);
  return [...files].filter((file) => before.get(file)?.digest !== after.get(file)?.digest).sort();
}
