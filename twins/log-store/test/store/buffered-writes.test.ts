/** What is written waits in memory before it is in the database, and nobody sees a difference. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { raw, sql } from "../../sql.ts";
import { Database, type DatabaseOptions } from "../../store/database.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import { type LogStore, UnfitDocuments } from "../../store/log-store.ts";

let store: LogStore;
beforeEach(async () => {
  store = await openLogStore({ fitting: "free", textIndex: "raw" });
});
afterEach(() => store.close());

const events = (count: number, members: object) =>
  Array.from({ length: count }, (_, n) => ({ index: "main", source: JSON.stringify({ n, ...members }) }));
const only = async (statement: ReturnType<typeof sql>) => (await store.query(statement)).rows;

test("a finished write is found by the next query, of eight writers at once, and of each all of it or nothing", async () => {
  const sizes = new Set<unknown>();
  let writing = true;
  const watching = (async () => {
    while (writing) {
      for (const [size] of await only(raw("SELECT count(*) FROM documents GROUP BY _index"))) sizes.add(size);
    }
  })();
  await store.write(events(1, { writer: "first", batch: 0 }));
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let batch = 0; batch < 10; batch++) {
        const index = `w${writer}-${batch}`;
        await store.write(events(200, { writer: `w${writer}`, batch }).map((event) => ({ ...event, index })));
        const found = sql`SELECT count(*), count(DISTINCT n) FROM documents WHERE _index = ${index}`;
        expect(await only(found)).toEqual([[200, 200]]);
      }
    }),
  );
  writing = false;
  await watching;
  expect([...sizes].sort()).toEqual([1, 200]);
  expect([...(await store.counts()).values()].reduce((sum, count) => sum + count, 0)).toBe(16_001);
});

test("a statement that comes again is planned for the data there are by then: over no rows all of them are one group", async () => {
  const sizes = () => only(raw("SELECT _index, count(*) FROM documents GROUP BY _index ORDER BY _index"));
  expect(await sizes()).toEqual([]);
  for (const index of ["a", "b", "c"]) {
    await store.write(events(200, {}).map((event) => ({ ...event, index })));
    await store.counts();
  }
  expect(await sizes()).toEqual([
    ["a", 200],
    ["b", 200],
    ["c", 200],
  ]);
});

test("rows keep the order and numbers of their writes, however they are grouped", async () => {
  const written = [];
  for (let batch = 0; batch < 30; batch++) {
    written.push(...(await store.write(events(300, { batch }))));
    if (batch % 7 === 0) await store.counts();
  }
  expect(written.map(({ seqNo }) => seqNo)).toEqual(written.map((_, index) => index));
  expect(await only(raw("SELECT _row, _seq_no, _id, batch * 300 + n FROM documents ORDER BY _row"))).toEqual(
    written.map(({ id }, index) => [index, index, id, index]),
  );
});

test("buffered rows fit fields that later writes add or turn into lists", async () => {
  await store.write([{ index: "main", source: '{"a":"x","n":1}' }]);
  await store.write([{ index: "main", source: '{"b":"y","n":2}' }]);
  await store.write([{ index: "main", source: '{"a":["z","w"],"n":3}' }]);
  expect(store.fields.get("a")?.multi).toBe(true);
  expect(await only(raw("SELECT a, b FROM documents ORDER BY n"))).toEqual([
    [["x"], null],
    [null, "y"],
    [["z", "w"], null],
  ]);
});

test("a write that does not fit is refused alone", async () => {
  await store.write(events(3, { batch: 0 }));
  await expect(
    store.write([...events(2, { batch: 1 }), { index: "main", source: '{"n":"none"}' }]),
  ).rejects.toThrow(UnfitDocuments);
  await store.write(events(4, { batch: 2 }));
  expect(await only(raw("SELECT batch, count(*) FROM documents GROUP BY 1 ORDER BY 1"))).toEqual([
    [0, 3],
    [2, 4],
  ]);
});

test("buffered rows are replaced and removed like stored ones, and gone after a reset", async () => {
  await store.write(["a", "b", "c"].map((id) => ({ index: "main", id, source: `{"v":"${id}"}` })));
  const [again] = await store.write([{ index: "main", id: "a", source: '{"v":"new"}' }]);
  expect(again).toMatchObject({ version: 2, result: "updated" });
  await store.remove([{ index: "main", id: "b" }]);
  await store.write([{ index: "main", id: "d", source: '{"v":"d"}' }]);
  expect(await only(raw("SELECT _id, v FROM documents ORDER BY _id"))).toEqual([
    ["a", "new"],
    ["c", "c"],
    ["d", "d"],
  ]);
  await store.write([{ index: "main", id: "e", source: '{"v":"e"}' }]);
  await store.reset();
  expect(await store.counts()).toEqual(new Map());
  const [first] = await store.write([{ index: "main", id: "e", source: "{}" }]);
  expect(first).toMatchObject({ version: 1, seqNo: 0, result: "created" });
});

test("a query that is cancelled while it waits for buffered rows ends", async () => {
  await store.write(events(10, { batch: 0 }));
  await expect(store.query(raw("SELECT 1"), { signal: AbortSignal.abort() })).rejects.toThrow("cancelled");
  expect(await only(raw("SELECT count(*) FROM documents"))).toEqual([[10]]);
});

test("names and times that no column can have are columns of other names, and misfits", async () => {
  await store.write([{ index: "main", source: '{"a\\ud800":"x","a\\ud801":"y"}' }]);
  const columns = ["a\ud800", "a\ud801"].map((name) => store.fields.get(name)?.column);
  expect(new Set(columns).size).toBe(2);
  expect(await only(raw("SELECT count(*) FROM documents"))).toEqual([[1]]);
  await store.write([{ index: "main", source: '{"_time":"2026-01-01T00:00:00Z"}' }]);
  await expect(store.write([{ index: "main", source: '{"_time":"99999999999999999"}' }])).rejects.toThrow(
    UnfitDocuments,
  );
});

test("a checkpoint puts groups of rows together where documents are often replaced, and leaves them where seldom", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "offhook-checkpoints-"));
  const groupsAfter = async (replacing: DatabaseOptions["replacing"]) => {
    const options = { file: path.join(folder, replacing), memoryBytes: 64_000_000, threads: 1, replacing };
    const database = await Database.open({}, { ...options, holder: "itself" });
    const connection = await database.connect();
    await connection.run("CREATE TABLE many (n BIGINT)");
    for (let checkpoint = 0; checkpoint < 6; checkpoint++) {
      await connection.run("INSERT INTO many SELECT range FROM range(3000)");
      await connection.run("CHECKPOINT");
    }
    connection.closeSync();
    const groups = sql`SELECT count(DISTINCT row_group_id) FROM pragma_storage_info('many')`;
    const { rows } = await database.query(groups);
    await database.close();
    return Number(rows[0]?.[0]);
  };
  try {
    expect(await groupsAfter("seldom")).toBe(6);
    expect(await groupsAfter("often")).toBeLessThan(6);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
