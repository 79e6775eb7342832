/** Lookups in the segment index, and that results stay correct as events are written and removed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ingest } from "@offhook/log-store/ingest/ingest";
import { raw } from "@offhook/log-store/sql";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { splBench } from "../../support/spl.ts";

let folder: string;
let store: LogStore;
/** The statements of the store, in their order. */
let asked: string[] = [];
let search: (text: string) => Promise<unknown[]>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "offhook-looked-up-"));
  const events = Array.from({ length: 3000 }, (_, n) => ({
    n,
    id: `id${n}`,
    level: "Error",
    part: `p${n % 20}`,
  }));
  async function* bytes() {
    yield Buffer.from(events.map((event) => JSON.stringify(event)).join("\n"));
  }
  const { file } = await ingest({ bytes: bytes(), format: "ndjson" }, folder, undefined, "raw");
  store = await openLogStore({ baselineFile: file, textIndex: "raw", index: "main" });
  const query = store.query.bind(store);
  store.query = (statement, options) => {
    asked.push(statement.text);
    return query(statement, options);
  };
  const bench = await splBench([], { store });
  search = async (text) => {
    asked = [];
    return (await bench.search(`search index=main ${text} | sort n | table n`)).rows.map(({ n }) => n);
  };
  await search("n=0");
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const lookups = () => asked.filter((text) => text.includes("FROM segments"));

test("a rare word is looked up as row numbers, a frequent one as a bitmap", async () => {
  expect(await search("id42")).toEqual([42]);
  expect(lookups()).toEqual([expect.not.stringContaining("bitstring")]);
  expect(await search("p7")).toHaveLength(150);
  expect(lookups()).toEqual([expect.not.stringContaining("bitstring"), expect.stringContaining("bitstring")]);
});

test("a word known to be frequent is found without counting it again", async () => {
  expect(await search("level=error id=ID42")).toEqual([42]);
  const before = lookups().length;
  expect(await search("level=error id=ID42")).toEqual([42]);
  expect(lookups().length).toBeLessThanOrEqual(before);
  expect(await search("level=error")).toHaveLength(3000);
  expect(await search("level=error")).toHaveLength(3000);
  expect(lookups()).toEqual([]);
  expect(await search("p7")).toHaveLength(150);
  expect(lookups()).toEqual([expect.stringContaining("bitstring")]);
});

test("events written after the index are found besides indexed ones", async () => {
  await store.write([{ index: "main", source: '{"n":5000,"id":"id42","level":"ERROR","part":"p7"}' }]);
  expect(await search("id42")).toEqual([42, 5000]);
  expect(await search("p7")).toHaveLength(151);
  expect(await search("level=error id=ID42")).toEqual([42, 5000]);
});

test("a frequent word is still found after most of its events are removed", async () => {
  await store.reset();
  const { rows } = await store.query(raw("SELECT _id FROM documents WHERE part = 'p3' ORDER BY n"));
  const gone = rows.slice(1).map(([id]) => ({ index: "main", id: String(id) }));
  expect(await search("p3")).toHaveLength(150);
  await store.remove(gone);
  expect(await search("p3")).toEqual([3]);
});
