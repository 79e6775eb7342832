import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

const refused = ["Date.now()", "new Date()", "new Date", "Date()", "[1].map(Date.now)"];
const accepted = ["new Date(5)", "Date.parse('2026-01-01')", "performance.now()"];

let folder: string;
/** Files in which the linter spoke. */
let complaints: Set<string>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "machine-time-"));
  const folders = ["twins/platform/base", "twins/brand-new/part", "agent", "test/house"];
  for (const name of folders) await mkdir(path.join(folder, name), { recursive: true });
  const files = [
    "biome.json",
    "twins/machine-time.grit",
    "test/house/abort-signals.grit",
    "twins/platform/base/clock.ts",
  ];
  for (const name of files) {
    await copyFile(path.join(root, name), path.join(folder, name));
  }
  const write = (file: string, code: string) =>
    writeFile(path.join(folder, file), `export const it = ${code};\n`);
  for (const [index, code] of refused.entries()) {
    await write(`twins/brand-new/refused-${index}.ts`, code);
    await write(`twins/brand-new/part/refused-${index}.ts`, code);
    await write(`agent/accepted-${index}.ts`, code);
  }
  for (const [index, code] of accepted.entries()) await write(`twins/brand-new/accepted-${index}.ts`, code);
  complaints = await lint(folder);
});
afterAll(() => rm(folder, { recursive: true }));

async function lint(cwd: string): Promise<Set<string>> {
  const biome = path.join(root, "node_modules/@biomejs/biome/bin/biome");
  const args = [biome, "lint", "--vcs-enabled=false", "--max-diagnostics=none", "--reporter=json", "."];
  const run = promisify(execFile)(process.execPath, args, { cwd, maxBuffer: 16 * 1024 * 1024 });
  const { stdout } = await run.catch((failure: { stdout: string }) => failure);
  const report: { diagnostics: { category: string; location: { path: string } }[] } = JSON.parse(stdout);
  const spoken = report.diagnostics.filter(({ category }) => category === "plugin");
  return new Set(spoken.map(({ location }) => location.path));
}

test("the machine's time is refused in every twin's files, whatever way it is asked for", () => {
  const expected = refused.flatMap((_code, index) => [
    `twins/brand-new/part/refused-${index}.ts`,
    `twins/brand-new/refused-${index}.ts`,
  ]);
  expect([...complaints].sort()).toEqual(expected.sort());
});

test("the clock's own file may ask for it", () => {
  expect(complaints).not.toContain("twins/platform/base/clock.ts");
});

test("AbortSignal.any, which loses timeouts, is refused everywhere", async () => {
  const files = ["agent/any.ts", "twins/brand-new/any.ts", "test/house/any.ts"];
  const code = "export const it = AbortSignal.any([AbortSignal.timeout(5)]);\n";
  for (const file of files) await writeFile(path.join(folder, file), code);
  expect([...(await lint(folder))]).toEqual(expect.arrayContaining(files));
});
