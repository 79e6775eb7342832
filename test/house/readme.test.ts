/** What the pages say is true: the README's walk works as printed, in a copy of the project, and every link leads somewhere. */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
  const named = [...readme.matchAll(/npm run (?:--silent )?([a-z][a-z-]*)/g)].map(([, name]) => name);
  expect(named.filter((name) => name !== undefined && !(name in scripts))).toEqual([]);
  expect(named.length).toBeGreaterThan(5);
});

/** Markdown of the project, relative to it. */
const pages = copied.flatMap((name) => {
  if (name.endsWith(".json")) return [];
  const below = readdirSync(path.join(root, name), { recursive: true, encoding: "utf8" });
  return below.filter((file) => isPage(file)).map((file) => `${name}/${file}`);
});
pages.push(...readdirSync(root).filter(isPage));

function isPage(file: string): boolean {
  return file.endsWith(".md") && !file.split(path.sep).includes("node_modules");
}

/** Links of a page to this project: the file, and the heading in it. */
function linksOf(page: string): { file: string; heading: string }[] {
  const text = readFileSync(path.join(root, page), "utf8");
  return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
    ([, target = "", heading = ""]) => ({
      file: target === "" ? page : path.join(path.dirname(page), target),
      heading,
    }),
  );
}

/** As GitHub makes them of headings. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(path.join(root, file), "utf8").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(pages)("every page, file and heading that %s links to is there", (page) => {
  for (const { file, heading } of linksOf(page)) {
    expect(existsSync(path.join(root, file)), file).toBe(true);
    if (heading !== "") expect(anchorsOf(file), file).toContain(heading);
  }
});

test("each test that a threat model links to names it", () => {
  for (const model of pages.filter((page) => path.basename(page) === "SECURITY.md")) {
    const tests = linksOf(model).filter(({ file }) => file.endsWith(".test.ts"));
    for (const { file } of tests) expect(readFileSync(path.join(root, file), "utf8"), file).toContain(model);
  }
});
