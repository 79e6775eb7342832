import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

const module = new URL("../base/temporary-folder.ts", import.meta.url).href;
/** Makes a folder, says where, and lives until it is killed. */
const program = `
  import { writeFileSync } from "node:fs";
  const { makeTemporaryFolder } = await import(${JSON.stringify(module)});
  const folder = await makeTemporaryFolder(process.argv[1], "store-");
  writeFileSync(folder.path + "/events", "events");
  process.stdout.write(folder.path);
  process.stdin.on("end", () => folder.remove()).resume();
`;

let parent: string;
let children: ChildProcess[];
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), "tf-"));
  children = [];
});
afterEach(async () => {
  for (const child of children) await end(child, "SIGKILL");
  await rm(parent, { recursive: true, force: true });
});

/** Starts a process that has a folder; answers the folder's name. */
async function start(): Promise<{ child: ChildProcess; name: string }> {
  const args = ["--import", "tsx", "--input-type=module", "-e", program, parent];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const [said] = await once(child.stdout, "data");
  return { child, name: path.basename(String(said)) };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

test("the folder of a killed process is removed by the next one, and none that is in use", async () => {
  const killed = await start();
  const living = await start();
  expect(new Set(await readdir(parent))).toEqual(new Set([killed.name, living.name]));
  await end(killed.child, "SIGKILL");
  // One of another machine, one that is just being made, and somebody else's.
  const others = ["store-00000000-abcdef", `${living.name.slice(0, -6)}zzzzzz`, "other"];
  for (const name of others) await mkdir(path.join(parent, name));
  await writeFile(path.join(parent, "store-00000000-abcdef", "alive"), "");
  const next = await start();
  expect(new Set(await readdir(parent))).toEqual(new Set([living.name, next.name, ...others]));
  expect(await readdir(path.join(parent, living.name))).toContain("events");
});

test("many that start at the same time leave each other's folders alone, and remove their own", async () => {
  const all = await Promise.all(Array.from({ length: 4 }, start));
  expect(new Set(await readdir(parent))).toEqual(new Set(all.map(({ name }) => name)));
  await Promise.all(
    all.map(async ({ child }) => {
      const ended = once(child, "exit");
      child.stdin?.end();
      expect(await ended).toEqual([0, null]);
    }),
  );
  expect(await readdir(parent)).toEqual([]);
});
