import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FolderWatch } from "../../scripts/dev/watch-folders.ts";

let root: string;
let watching: FolderWatch;
let reports: string[][];
let reported: (files: string[]) => void;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "offhook-watch-"));
  mkdirSync(join(root, "code", "inner"), { recursive: true });
  write("code/one.ts", "1");
  write("code/inner/two.ts", "2");
  write("code/notes.md", "n");
  reports = [];
  watching = new FolderWatch({
    root,
    folders: ["code"],
    isWatched: (file) => file.endsWith(".ts"),
    onSettled: (files) => {
      reports.push(files);
      reported(files);
    },
  });
});

afterEach(() => {
  watching.close();
  rmSync(root, { recursive: true });
});

function write(file: string, content: string): void {
  writeFileSync(join(root, file), content);
}

/** As many editors save: into another file, which takes the name. */
function replace(file: string, content: string): void {
  write(`${file}.saving`, content);
  renameSync(join(root, `${file}.saving`), join(root, file));
}

/** What is told next after an action. */
function toldAfter(action: () => void): Promise<string[]> {
  return new Promise((resolve) => {
    reported = resolve;
    action();
  });
}

test("new content is told with its file, in subfolders too, each time, however it is saved", async () => {
  expect(await toldAfter(() => write("code/one.ts", "1b"))).toEqual(["code/one.ts"]);
  expect(await toldAfter(() => write("code/inner/two.ts", "2b"))).toEqual(["code/inner/two.ts"]);
  for (const content of ["1c", "1d", "1e"]) {
    expect(await toldAfter(() => replace("code/one.ts", content))).toEqual(["code/one.ts"]);
  }
  expect(await toldAfter(() => write("code/one.ts", "1f"))).toEqual(["code/one.ts"]);
});

test("files that come and go are told, in folders that are new", async () => {
  expect(await toldAfter(() => write("code/inner/three.ts", "3"))).toEqual(["code/inner/three.ts"]);
  expect(await toldAfter(() => rmSync(join(root, "code/inner/three.ts")))).toEqual(["code/inner/three.ts"]);
  const made = toldAfter(() => {
    mkdirSync(join(root, "code/new"));
    write("code/new/four.ts", "4");
  });
  expect(await made).toEqual(["code/new/four.ts"]);
  expect(await toldAfter(() => write("code/new/four.ts", "4b"))).toEqual(["code/new/four.ts"]);
  const gone = toldAfter(() => rmSync(join(root, "code/new"), { recursive: true }));
  expect(await gone).toEqual(["code/new/four.ts"]);
});

test("a folder that is removed and made again is watched like before", async () => {
  const anew = toldAfter(() => {
    rmSync(join(root, "code/inner"), { recursive: true });
    mkdirSync(join(root, "code/inner"));
    write("code/inner/two.ts", "2");
    write("code/one.ts", "1b");
  });
  expect(await anew).toEqual(["code/one.ts"]);
  expect(await toldAfter(() => write("code/inner/two.ts", "2b"))).toEqual(["code/inner/two.ts"]);
});

test("attributes, and saving the same content again, are no change", async () => {
  const touch = () => utimesSync(join(root, "code/one.ts"), new Date(), new Date());
  expect(await toldAfter(touch)).toEqual([]);
  expect(await toldAfter(() => chmodSync(join(root, "code/one.ts"), 0o700))).toEqual([]);
  expect(await toldAfter(() => write("code/one.ts", "1"))).toEqual([]);
  expect(await toldAfter(() => replace("code/inner/two.ts", "2"))).toEqual([]);
});

test("several changes at once are told once; other files are not told", async () => {
  const told = toldAfter(() => {
    write("code/notes.md", "other notes");
    write("code/inner/two.ts", "2b");
    write("code/one.ts", "1b");
  });
  expect(await told).toEqual(["code/inner/two.ts", "code/one.ts"]);
  expect(reports).toHaveLength(1);
});
