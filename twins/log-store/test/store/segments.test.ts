import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ingest } from "../../ingest/ingest.ts";
import { sql } from "../../sql.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import type { LogStore } from "../../store/log-store.ts";

let folder: string;
let store: LogStore | undefined;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "offhook-segments-"));
});
afterEach(async () => {
  await store?.close();
  store = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function rowsWith(term: string): Promise<unknown[]> {
  const found = await store?.query(sql`SELECT DISTINCT _row FROM segments WHERE term = ${term} ORDER BY 1`);
  return found?.rows.map(([row]) => row) ?? [];
}

async function waiting(): Promise<unknown> {
  return (await store?.query(sql`SELECT count(*) FROM unsegmented`))?.rows[0]?.[0];
}

async function* lines(events: readonly object[]) {
  yield Buffer.from(events.map((event) => JSON.stringify(event)).join("\n"));
}

test("a dataset with a raw index has the segments of its events and no postings of its fields", async () => {
  const events = [{ message: "GET /a-b%20C é" }, { message: "x", _raw: "tab\there" }];
  const { file } = await ingest({ bytes: lines(events), format: "ndjson" }, folder, undefined, "raw");
  store = await openLogStore({ baselineFile: file, textIndex: "raw" });
  expect(store.fields.get("message")?.postings).toBeUndefined();
  for (const term of ["message", "get", "a", "b", "c", "20c", "é"]) expect(await rowsWith(term)).toContain(0);
  for (const term of ["tab", "here", "x"]) expect(await rowsWith(term)).toEqual([1]);
  expect(await rowsWith("a-b")).toEqual([]);
  expect(await waiting()).toBe(0);
  await store.write([{ index: "main", source: `{"message":"later"}` }]);
  expect(await rowsWith("get")).toEqual([0]);
  expect(await rowsWith("later")).toEqual([]);
  expect(await waiting()).toBe(1);
});

test("an event has the segments of its text and of all its JSON, however its text is written there", async () => {
  const events = [
    { _raw: "one two", n: "three" },
    { _raw: 'say "hi"\nthere', n: "raw4" },
    { n: "one", _raw: "one", inner: { _raw: "one" } },
    { _raw: "", n: "five" },
  ];
  const { file } = await ingest({ bytes: lines(events), format: "ndjson" }, folder, undefined, "raw");
  store = await openLogStore({ baselineFile: file, textIndex: "raw" });
  const terms: Record<string, number[]> = {
    one: [0, 2],
    two: [0],
    three: [0],
    say: [1],
    hi: [1],
    there: [1],
  };
  Object.assign(terms, { raw4: [1], inner: [2], five: [3], raw: [0, 1, 2, 3], n: [0, 1, 2, 3] });
  for (const [term, rows] of Object.entries(terms)) expect(await rowsWith(term), term).toEqual(rows);
});

test("written events wait for their segments, and are segmented many at a time", async () => {
  store = await openLogStore({ textIndex: "raw" });
  const batches = 9;
  for (let batch = 0; batch < batches; batch++) {
    await store.write(
      Array.from({ length: 4096 }, (_, index) => ({
        index: "main",
        source: `{"n":"n${batch * 4096 + index}"}`,
      })),
    );
  }
  // Steps take turns with what else is done exclusively.
  while (Number(await waiting()) >= 16_384) await store.exclusively(async () => {});
  expect(await rowsWith("n7")).toEqual([7]);
  const counted = await store.query(
    sql`SELECT count(*) FROM (SELECT _row FROM segments WHERE term = 'n' UNION ALL SELECT _row FROM unsegmented)`,
  );
  expect(counted.rows).toEqual([[batches * 4096]]);
  await store.reset();
  expect(await waiting()).toBe(0);
});

test("segments of many events are put together again and again, and none is lost or doubled", async () => {
  store = await openLogStore({ textIndex: "raw" });
  const count = 18 * 4096;
  for (let first = 0; first < count; first += 4096) {
    const events = Array.from({ length: 4096 }, (_, index) => {
      const n = first + index;
      return { index: "main", source: `{"_raw":"id${n} k${n % 100} word","n":"v${n}"}` };
    });
    await store.write(events);
  }
  const tables = sql`SELECT count(*) FROM duckdb_tables() WHERE starts_with(table_name, 'segments_')`;
  // Of sixteen tables of 4,096 events six have become one, and another six; one is there for a dataset.
  while (Number(await waiting()) >= 16_384 || Number((await store.query(tables)).rows[0]?.[0]) > 8) {
    await store.exclusively(async () => {});
  }
  const known = count - Number(await waiting());
  const { rows } = await store.query(
    sql`SELECT term, count(*), count(DISTINCT _row), max(_row) < ${BigInt(known)} FROM segments
      WHERE in_text AND term IN ('word', 'k7', 'id4711') GROUP BY 1 ORDER BY 1`,
  );
  const sevens = Array.from({ length: known }, (_, n) => n).filter((n) => n % 100 === 7).length;
  expect(rows).toEqual([
    ["id4711", 1, 1, true],
    ["k7", sevens, sevens, true],
    ["word", known, known, true],
  ]);
  for (const n of [0, 511, 512, 8191, 8192, 49_151]) {
    expect(await rowsWith(`id${n}`)).toEqual([n]);
    expect(await rowsWith(`v${n}`)).toEqual([n]);
  }
});
