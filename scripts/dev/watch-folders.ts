/** Tells which files of some folders changed in content, new and removed ones included; many changes at once are told once. */
import { createHash } from "node:crypto";
import { type Dirent, type FSWatcher, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { join } from "node:path";

/** Editors write a file in several steps. */
const SETTLE_MS = 150;

export interface WatchOptions {
  /** Folder that paths are relative to. */
  root: string;
  folders: readonly string[];
  isWatched(file: string): boolean;
  /** Something happened in the folders, perhaps to attributes or other files alone; `settled` follows. */
  stirred?(): void;
  /** @param files those with other content than before, sorted; often there are none */
  settled(files: string[]): void;
}

/**
 * One watch for each folder: on Linux, Node's own recursive one loses a file that another has replaced, as many editors
 * save.
 */
export class FolderWatch {
  readonly #options: WatchOptions;
  readonly #watchers = new Map<string, { watcher: FSWatcher; identity: string }>();
  #contents: ReadonlyMap<string, Content>;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#contents = this.#readAll(new Map());
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watchers.values()) watcher.close();
  }

  #stir(): void {
    if (this.#timer !== undefined) return;
    this.#options.stirred?.();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const before = this.#contents;
      this.#contents = this.#readAll(before);
      this.#options.settled(differences(before, this.#contents));
    }, SETTLE_MS);
  }

  /** Reads what may have changed, and watches folders that are new. */
  #readAll(known: ReadonlyMap<string, Content>): Map<string, Content> {
    const { root, folders, isWatched } = this.#options;
    const contents = new Map<string, Content>();
    const found = new Set<string>();
    const walk = (folder: string): void => {
      found.add(folder);
      // Watched before it is read: what comes in between is noticed one way or the other.
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

  /** @returns whether the folder is there */
  #watch(folder: string): boolean {
    const path = join(this.#options.root, folder);
    const identity = unlessGone(() => {
      const { dev, ino, birthtimeMs } = statSync(path);
      return `${dev} ${ino} ${birthtimeMs}`;
    });
    const watched = this.#watchers.get(folder);
    if (identity !== undefined && watched?.identity === identity) return true;
    // Another folder of the same name: a switch of branches removes folders and makes them again.
    watched?.watcher.close();
    this.#watchers.delete(folder);
    if (identity === undefined) return false;
    const watcher = unlessGone(() => watch(path, () => this.#stir()));
    if (watcher === undefined) return false;
    // A folder that is removed: its parent tells.
    watcher.on("error", () => undefined);
    this.#watchers.set(folder, { watcher, identity });
    return true;
  }
}

/** What a file holds, and the attributes by which it need not be read again. */
interface Content {
  attributes: string;
  digest: string;
}

function readContent(path: string, known: Content | undefined): Content | undefined {
  return unlessGone(() => {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    const attributes = `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
    if (known?.attributes === attributes) return known;
    return { attributes, digest: createHash("sha256").update(readFileSync(path)).digest("base64") };
  });
}

function listFolder(path: string): Dirent[] {
  return unlessGone(() => readdirSync(path, { withFileTypes: true })) ?? [];
}

/** `undefined` when the file or folder has been removed in the meantime. */
function unlessGone<Result>(read: () => Result): Result | undefined {
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
