/** The README's walk from clone to a changed tool, taken in a copy of the project: what it prints is what works. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(path.join(root, "README.md"), "utf8");
const copied = ["agent", "tools", "twins", "samples", "scripts", "test", "package.json", "tsconfig.json"];
let fork: string;

beforeAll(() => {
  fork = mkdtempSync(path.join(tmpdir(), "offhook-fork-"));
  for (const name of copied) cpSync(path.join(root, name), path.join(fork, name), { recursive: true });
  symlinkSync(path.join(root, "node_modules"), path.join(fork, "node_modules"), "dir");
});
afterAll(() => rmSync(fork, { recursive: true, force: true }));

/** The files the README has its reader write: a name in backquotes, then the next block of code. */
function filesOfTheReadme(): [name: string, content: string][] {
  const named = /This is\s+`([^`]+)`(?:(?!```)[\s\S])*```\w+\n([\s\S]*?)```/g;
  return [...readme.matchAll(named)].map(([, name = "", content = ""]) => [name, content]);
}

test("the README's tool, scenario and replay test work as printed", async () => {
  const files = filesOfTheReadme();
  expect(files.map(([name]) => name)).toEqual([
    "tools/page-team.ts",
    "samples/scenarios/page-team.yaml",
    "test/scenarios/page-team.test.ts",
  ]);
  for (const [name, content] of files) writeFileSync(path.join(fork, name), content);
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: "1" };
  const { stdout } = await promisify(execFile)("npm", ["test", "--", "page-team"], { cwd: fork, env });
  expect(stdout).toMatch(/Tests {2}1 passed/);
});

test("every command the README names is a script of package.json", () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const named = [...readme.matchAll(/npm run (?:--silent )?([a-z]+)/g)].map(([, name]) => name);
  expect(named.filter((name) => name !== undefined && !(name in scripts))).toEqual([]);
  expect(named.length).toBeGreaterThan(5);
});

test("every page and file the README links to is there", () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, target = ""]) => target);
  for (const target of links) expect(() => readFileSync(path.join(root, target)), target).not.toThrow();
});
