/** Tells when files of some folders change, new files included; many changes at once are told once. */
import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";

/** Editors write a file in several steps. */
const SETTLE_MS = 150;

export interface FolderWatch {
  close(): void;
}

/** @param changed gets the path that changed first; paths are relative to `root` */
export function watchFolders(
  root: string,
  folders: readonly string[],
  isWatched: (file: string) => boolean,
  changed: (file: string) => void,
): FolderWatch {
  let timer: NodeJS.Timeout | undefined;
  const watchers = folders.map(
    (folder): FSWatcher =>
      watch(join(root, folder), { recursive: true }, (_event, name) => {
        if (name === null || timer !== undefined) return;
        const file = join(folder, name);
        if (!isWatched(file)) return;
        timer = setTimeout(() => {
          timer = undefined;
          changed(file);
        }, SETTLE_MS);
      }),
  );
  return {
    close: () => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
