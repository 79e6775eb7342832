import { existsSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type DatasetLibrary, DatasetRefusal } from "@offhook/platform/twin/dataset";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { evictDatasets, removeLeftovers } from "../../library/eviction.ts";
import { openDatasetLibrary } from "../../library/library.ts";

const log = pino({ level: "silent" });
let root: string;
let folder: string;
let file: string;
const opened: DatasetLibrary[] = [];

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "library-"));
  folder = path.join(root, "kept");
  file = path.join(root, "day.csv");
  await writeFile(file, "a,b\n1,2\n");
});
afterEach(async () => {
  for (const library of opened.splice(0)) await library.close();
  await rm(root, { recursive: true });
});

async function open(): Promise<DatasetLibrary> {
  const library = await openDatasetLibrary({ folder, log });
  opened.push(library);
  return library;
}

const keptFiles = async () => (await readdir(folder)).filter((name) => name.endsWith(".duckdb"));
/** When the dataset was made: told apart by it, a dataset made anew is another. */
const madeAt = async (library: DatasetLibrary) => (await library.fromFile(file)).description.created_at;

test("a file that is not there is refused by its name, without where it was looked for", async () => {
  const library = await open();
  const error = await library.fromFile(path.join(root, "none.csv")).catch((reason: unknown) => reason);
  if (!(error instanceof DatasetRefusal)) throw new Error(`no refusal but ${error}`);
  expect(error.message).toContain("there is no file none.csv");
  expect(error.message).not.toContain(root);
});

test("a file that has not changed is read once, in this process and the next", async () => {
  const first = await madeAt(await open());
  expect(await madeAt(await open())).toBe(first);
  expect(await keptFiles()).toHaveLength(1);
});

test("progress is reported every two seconds, and at the end", async () => {
  await writeFile(file, `a,b\n${"1,2\n".repeat(100_000)}`);
  let seconds = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => 1_000 * seconds++);
  const told: string[] = [];
  await (await open()).fromFile(file, (what) => told.push(what)).finally(() => clock.mockRestore());
  expect(told.length).toBeGreaterThan(1);
  expect(told.at(-1)).toBe("100,000 rows read, their types and words follow");
  const rows = told.map((what) => Number.parseInt(what.replaceAll(",", ""), 10));
  expect(rows).toEqual(rows.toSorted((a, b) => a - b));
  for (const what of told.slice(0, -1)) expect(what).toMatch(/^[\d,]+ rows read$/);
});

test("a file that was changed is read again; one that was only touched is not", async () => {
  const library = await open();
  const first = await madeAt(library);
  await utimes(file, 1_700_000_000, 1_700_000_000);
  expect(await madeAt(library)).toBe(first);
  await appendFile(file, "3,4\n");
  expect((await library.fromFile(file)).description.rows).toBe(2);
  expect(await keptFiles()).toHaveLength(2);
});

test("two that make the same at once both have it, and nothing lies about", async () => {
  const libraries = [await open(), await open()];
  const datasets = await Promise.all(libraries.map((library) => library.fromFile(file)));
  for (const { file: made, description } of datasets) {
    expect(existsSync(made)).toBe(true);
    expect(description.rows).toBe(1);
  }
  expect(await keptFiles()).toHaveLength(1);
  for (const library of opened.splice(0)) await library.close();
  expect(await readdir(path.join(folder, "work"))).toEqual([]);
});

test("a dataset in use survives eviction, and is removed when released", async () => {
  const dataset = await (await open()).fromFile(file);
  await evictDatasets(folder, 0);
  expect(await keptFiles()).toEqual([]);
  expect((await stat(dataset.file)).size).toBeGreaterThan(0);
  await dataset.release();
  expect(existsSync(dataset.file)).toBe(false);
});

test("a dataset whose file or description is lost is rebuilt", async () => {
  const library = await open();
  await library.fromFile(file);
  for (const ending of [".duckdb", ".json"]) {
    for (const name of await readdir(folder)) if (name.endsWith(ending)) await rm(path.join(folder, name));
    const dataset = await library.fromFile(file);
    expect(dataset.description.rows).toBe(1);
    expect(await keptFiles()).toHaveLength(1);
  }
});

test("space is bounded: the least recently used datasets go first", async () => {
  const room = path.join(root, "room");
  await mkdir(room);
  for (const [name, usedAt] of [
    ["old", 1000],
    ["new", 3000],
    ["middle", 2000],
  ] as const) {
    await writeFile(path.join(room, `${name}.duckdb`), Buffer.alloc(100));
    await writeFile(path.join(room, `${name}.json`), "{}");
    await utimes(path.join(room, `${name}.json`), usedAt, usedAt);
  }
  await evictDatasets(room, 250);
  expect((await readdir(room)).sort()).toEqual(["middle.duckdb", "middle.json", "new.duckdb", "new.json"]);
});

test("leftovers of a killed process are removed, work of a running one is not", async () => {
  const work = path.join(root, "work");
  await mkdir(path.join(work, "999999999-dead"), { recursive: true });
  await mkdir(path.join(work, `${process.pid}-alive`));
  await removeLeftovers(work);
  expect(await readdir(work)).toEqual([`${process.pid}-alive`]);
});

test("an upload stays as long as it is used", async () => {
  const library = await open();
  const bytes = async function* () {
    yield Buffer.from("a,b\n1,2\n");
  };
  const dataset = await library.fromStream({ bytes: bytes() });
  expect(existsSync(dataset.file)).toBe(true);
  expect(await keptFiles()).toEqual([]);
  await dataset.release();
  expect(existsSync(dataset.file)).toBe(false);
});

test("a file that is refused is refused each time, and leaves nothing", async () => {
  const library = await open();
  await writeFile(file, "a,b\n1\n");
  for (let time = 0; time < 2; time++)
    await expect(library.fromFile(file)).rejects.toThrow("wrong in one place");
  expect(await keptFiles()).toEqual([]);
  const [own = ""] = await readdir(path.join(folder, "work"));
  expect(await readdir(path.join(folder, "work", own))).toEqual([]);
});
