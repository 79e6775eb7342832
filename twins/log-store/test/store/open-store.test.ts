/** A store runs bounded statements, and reaches nothing outside. Proves a part of twins/SECURITY.md. */
import { lookup } from "node:dns/promises";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { FieldCatalog } from "../../fields.ts";
import { raw, sql } from "../../sql.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import { addFields, checkpoint, createTables, saveCatalog } from "../../store/layout.ts";
import {
  type LogStore,
  OutOfMemory,
  QueryInterrupted,
  QueueFull,
  type ResultCursor,
} from "../../store/log-store.ts";
import { buildPostings } from "../../store/postings.ts";
import { QueryGate } from "../../store/query-gate.ts";

let folder: string;
let baseline: string;
const stores: LogStore[] = [];

async function open(baselineFile?: string): Promise<LogStore> {
  const own = join(folder, `store-${stores.length}`);
  const store = await openLogStore({ folder: own, ...(baselineFile !== undefined && { baselineFile }) });
  stores.push(store);
  return store;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "offhook-test-"));
  baseline = join(folder, "baseline.duckdb");
  await makeBaseline(baseline, 3);
});
afterEach(async () => {
  for (const store of stores) await store.close();
});
afterAll(() => rm(folder, { recursive: true }));

/** A file as an upload makes it. @param unnamedIndex holds the rows that name none */
async function makeBaseline(file: string, rows: number, unnamedIndex?: string): Promise<void> {
  const database = await DuckDBInstance.create(file);
  const connection = await database.connect();
  await createTables(connection);
  const fields = await addFields(connection, new FieldCatalog([], undefined), [
    { name: "message", type: "text", multi: false },
  ]);
  await connection.run(`INSERT INTO documents SELECT i, 'e' || i, 'logs', 1, i,
    '{"message":"event ' || i || '"}', 'event ' || i FROM range(${rows}) t(i)`);
  for (const field of fields.all()) await buildPostings(connection, field, 0);
  const named = unnamedIndex === undefined ? {} : { unnamedIndex };
  await saveCatalog(connection, { fields, nextRow: rows, nextSeqNo: rows, ...named });
  await checkpoint(connection);
  connection.closeSync();
  database.closeSync();
}

const idsOf = async (store: LogStore) =>
  (await store.query(raw("SELECT _id FROM documents ORDER BY _row"))).rows.flat();
const found = async (store: LogStore, term: string) =>
  (await store.query(raw(`SELECT count(*) FROM postings_0 WHERE term = '${term}'`))).rows[0]?.[0];

describe("a query that needs more memory than there is", () => {
  const wide = raw(`SELECT count(*) FROM (SELECT x
    FROM (SELECT md5(CAST(i AS VARCHAR)) || repeat('x', 300) AS x FROM range(400000) t(i)) ORDER BY x OFFSET 1)`);

  test("fails, and the store keeps working", async () => {
    const store = await openLogStore({ folder: join(folder, "small"), memoryBytes: 64_000_000 });
    stores.push(store);
    await expect(store.query(wide)).rejects.toThrow(OutOfMemory);
    expect(await idsOf(store)).toEqual([]);
  });

  test("harms no concurrent read or write: statements that fit alone succeed", async () => {
    const store = await openLogStore({ folder: join(folder, "beside"), memoryBytes: 64_000_000 });
    stores.push(store);
    // Two at once take more than there is; one alone does not.
    const half = raw(`SELECT count(*) FROM (SELECT x
      FROM (SELECT md5(CAST(i AS VARCHAR)) || repeat('x', 300) AS x FROM range(100000) t(i)) ORDER BY x OFFSET 1)`);
    const answers = await Promise.allSettled([
      store.query(half),
      store.query(wide),
      store.write([{ index: "logs", id: "e0", source: '{"message":"event"}' }]),
      store.query(half),
      store.query(wide),
      store.query(half),
    ]);
    expect(answers.map((one) => (one.status === "fulfilled" ? "answered" : one.reason.name))).toEqual([
      "answered",
      "OutOfMemory",
      "answered",
      "answered",
      "OutOfMemory",
      "answered",
    ]);
    expect(await idsOf(store)).toEqual(["e0"]);
  });

  test("spills into the store's own folder where that is allowed, and nothing is left of it", async () => {
    const own = join(folder, "spilling");
    const store = await openLogStore({ folder: own, memoryBytes: 64_000_000, beyondMemory: "disk" });
    expect((await store.query(wide)).rows).toEqual([[399_999]]);
    await store.close();
    expect(await readdir(own)).toEqual([]);
  });
});

describe("a baseline", () => {
  test("continues in a copy, and is itself never changed", async () => {
    const before = await readFile(baseline);
    const store = await open(baseline);
    expect(
      await store.writeEach([{ index: "logs", id: "e1", source: '{"message":"event again"}' }]),
    ).toMatchObject([{ version: 2, seqNo: 3, result: "updated" }]);
    expect(await idsOf(store)).toEqual(["e0", "e2", "e1"]);
    expect([await found(store, "event"), await found(store, "1"), await found(store, "again")]).toEqual([
      3, 0, 1,
    ]);
    const { rows } = await store.query(raw("SELECT * FROM field_statistics"));
    expect(rows).toEqual([["message", 3, 6]]);
    await store.reset();
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2"]);
    expect(await found(store, "again")).toBe(0);
    const other = join(folder, "other.duckdb");
    await makeBaseline(other, 1);
    await store.reset({ file: other });
    expect(await idsOf(store)).toEqual(["e0"]);
    expect((await readFile(baseline)).equals(before)).toBe(true);
  });

  test("is read where it lies until something is written", async () => {
    const one = await open(baseline);
    const other = await open(baseline);
    const [first, second] = [stores.length - 2, stores.length - 1].map((n) => join(folder, `store-${n}`));
    expect(await idsOf(one)).toEqual(["e0", "e1", "e2"]);
    expect(await readdir(first ?? "")).toEqual([]);
    await other.remove([{ index: "logs", id: "e0" }]);
    expect(await readdir(second ?? "")).toHaveLength(1);
    expect([await idsOf(one), await idsOf(other)]).toEqual([
      ["e0", "e1", "e2"],
      ["e1", "e2"],
    ]);
    await one.close();
    expect(await idsOf(await open(baseline))).toEqual(["e0", "e1", "e2"]);
  });

  test("that was copied to name its index stays open in a reset, unless something was written", async () => {
    const own = join(folder, "copied");
    const unnamed = join(folder, "unnamed.duckdb");
    await makeBaseline(unnamed, 3, "logs");
    const store = await openLogStore({ folder: own, baselineFile: unnamed, index: "main" });
    stores.push(store);
    const copy = await readdir(own);
    const { stateVersion } = store;
    await store.reset();
    expect([await readdir(own), store.stateVersion]).toEqual([copy, stateVersion + 1]);
    expect(await store.indexes()).toEqual(new Set(["main"]));
    await store.remove([{ index: "main", id: "e0" }]);
    await store.reset();
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2"]);
    expect(await readdir(own)).not.toEqual(copy);
  });

  test("that is no store is refused, and nothing is left", async () => {
    const file = join(folder, "text.duckdb");
    await writeFile(file, "no database");
    const own = join(folder, "refused");
    await expect(openLogStore({ folder: own, baselineFile: file })).rejects.toThrow();
    expect(await readdir(own)).toEqual([]);
  });

  test("put back while it is read and written is never seen in part", async () => {
    const store = await open(baseline);
    const work: Promise<unknown>[] = [];
    const seen: unknown[][] = [];
    for (let round = 0; round < 6; round++) {
      work.push(store.write(["x", "y"].map((id) => ({ index: "logs", id, source: "{}" }))));
      work.push(idsOf(store).then((ids) => seen.push(ids)));
      work.push(store.reset());
      work.push(idsOf(store).then((ids) => seen.push(ids)));
    }
    await Promise.all(work);
    for (const ids of seen)
      expect([
        ["e0", "e1", "e2"],
        ["e0", "e1", "e2", "x", "y"],
      ]).toContainEqual(ids);
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2"]);
  });
});

describe("a held content", () => {
  const add = (store: LogStore, id: string) => store.write([{ index: "logs", id, source: "{}" }]);

  test("comes back after a reset and a load, with what was written, and as often as wanted", async () => {
    const store = await open(baseline);
    await add(store, "x");
    const { stateVersion } = store;
    const held = await store.hold();
    await store.reset();
    await held.restore();
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2", "x"]);
    expect(store.stateVersion).toBe(stateVersion + 2);
    await store.load({ fields: [], timeField: undefined, documents: noDocuments() });
    expect(await idsOf(store)).toEqual([]);
    await held.restore();
    await held.release();
    await add(store, "y");
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2", "x", "y"]);
    await store.reset();
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2"]);
  });

  test("of a baseline comes back in its place, after another one was read and written to", async () => {
    const store = await open(baseline);
    const other = join(folder, "held-other.duckdb");
    await makeBaseline(other, 1);
    const held = await store.hold();
    await store.reset({ file: other });
    await add(store, "x");
    await held.restore();
    await held.release();
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2"]);
    const cursor = await store.openCursor(raw("SELECT _id FROM documents"));
    expect((await cursor.query(sql`SELECT count(*) FROM ${cursor.from}`)).rows).toEqual([[3]]);
    await store.reset();
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2"]);
  });

  test("leaves no file: neither when it is released, nor when the store closes before that", async () => {
    const store = await open();
    const own = join(folder, `store-${stores.length - 1}`);
    await add(store, "x");
    const released = await store.hold();
    await store.reset();
    expect(await readdir(own)).toHaveLength(2);
    await released.release();
    // A write waits until the files before are closed.
    await store.load({ fields: [], timeField: undefined, documents: noDocuments() });
    await store.load({ fields: [], timeField: undefined, documents: noDocuments() });
    expect((await readdir(own)).length).toBeLessThanOrEqual(2);
    await add(store, "x");
    const left = await store.hold();
    await store.reset();
    await store.close();
    await left.release();
    expect(await readdir(own)).toEqual([]);
  });
});

async function* noDocuments(): AsyncGenerator<never[]> {}

describe("result cursors", () => {
  const backwards = raw("SELECT _id, _row FROM documents ORDER BY _row DESC");
  const read = async (held: ResultCursor) =>
    (await held.query(sql`SELECT _id, rowid FROM ${held.from} WHERE rowid >= ${1n} ORDER BY rowid`)).rows;

  test("are numbered in their order, and stay as they are while others write", async () => {
    const store = await open(baseline);
    const ofBaseline = await store.openCursor(backwards);
    expect([ofBaseline.count, await read(ofBaseline)]).toEqual([
      3,
      [
        ["e1", 1],
        ["e0", 2],
      ],
    ]);
    await store.write([{ index: "logs", id: "x", source: "{}" }]);
    const ofCopy = await store.openCursor(backwards);
    await store.remove([{ index: "logs", id: "e1" }]);
    expect((await read(ofCopy)).map(([id]) => id)).toEqual(["e2", "e1", "e0"]);
    const besideEvents = sql`SELECT d._id FROM documents AS d JOIN ${ofBaseline.from} AS h ON d._row = h._row`;
    expect((await ofBaseline.query(besideEvents)).rows.flat().sort()).toEqual(["e0", "e1", "e2"]);
    for (const held of [ofBaseline, ofCopy]) await held.drop();
    await expect(read(ofCopy)).rejects.toThrow("does not exist");
    await store.close();
  });

  test("do not delay a reset, and end with it", async () => {
    const store = await open(baseline);
    const held = [await store.openCursor(backwards)];
    await store.write([{ index: "logs", id: "x", source: "{}" }]);
    held.push(await store.openCursor(backwards));
    await store.reset();
    for (const one of held) await expect(read(one)).rejects.toThrow(QueryInterrupted);
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2"]);
    await store.openCursor(backwards);
    await store.close();
  });

  test("may be more than memory has room for where the store may spill", async () => {
    const own = join(folder, "holding");
    const store = await openLogStore({ folder: own, memoryBytes: 64_000_000, beyondMemory: "disk" });
    const many = raw("SELECT i, md5(CAST(i AS VARCHAR)) || repeat('x', 300) AS x FROM range(400000) t(i)");
    const held = await store.openCursor(many);
    expect(held.count).toBe(400_000);
    expect((await held.query(sql`SELECT i FROM ${held.from} WHERE rowid = ${390_000n}`)).rows).toEqual([
      [390_000],
    ]);
    await store.close();
    expect(await readdir(own)).toEqual([]);
  });

  test("are found by one statement that reads, which ends by its deadline", async () => {
    const store = await open(baseline);
    await expect(store.openCursor(raw("DELETE FROM documents"))).rejects.toThrow("syntax error");
    await expect(store.openCursor(raw("SELECT 1); DELETE FROM documents; SELECT (2"))).rejects.toThrow();
    await expect(store.openCursor(slowQuery, { deadlineMs: 50 })).rejects.toMatchObject({
      reason: "deadline",
    });
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2"]);
  });
});

test("closing a store ends running work, and leaves no file", async () => {
  const store = await open(baseline);
  const slow = store.query(slowQuery);
  const failed = expect(slow).rejects.toThrow(QueryInterrupted);
  await store.reset();
  await store.close();
  await failed;
  const own = join(folder, `store-${stores.length - 1}`);
  expect(await readdir(own)).toEqual([]);
});

/** Runs for minutes, unless it is ended. */
const slowQuery = raw(
  "SELECT sum(hash(a.i + b.i + c.i)) FROM range(10000) a(i), range(10000) b(i), range(10000) c(i)",
);

describe("nothing outside the store can be reached", () => {
  const outside = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT getenv('HOME')",
    `COPY documents TO '${join(tmpdir(), "offhook-copy.csv")}'`,
    "COPY documents FROM '/etc/passwd'",
    `ATTACH '${join(tmpdir(), "offhook-other.duckdb")}'`,
    "ATTACH ':memory:' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 8",
    "SET lock_configuration = false",
    "RESET enable_external_access",
    "PRAGMA enable_profiling",
    "PRAGMA disable_checkpoint_on_shutdown",
    "CALL pragma_version()",
    "DELETE FROM documents",
    "UPDATE documents SET _id = 'x'",
    "INSERT INTO removed_rows VALUES (1)",
    "CREATE TABLE other (n INTEGER)",
    "DROP TABLE documents",
    `EXPORT DATABASE '${join(tmpdir(), "offhook-export")}'`,
    "CHECKPOINT",
    "BEGIN",
    "EXPLAIN ANALYZE DELETE FROM documents",
    "SELECT 1; DELETE FROM documents",
    "DELETE FROM documents; SELECT 1",
  ];
  test.each(outside)("%s", async (text) => {
    const store = await open(baseline);
    await expect(store.query(raw(text))).rejects.toThrow();
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2"]);
  });

  test("a query that needs more memory than there is fails, and the store works on", async () => {
    const store = await open(baseline);
    const large = raw("SELECT list(i::VARCHAR || repeat('x', 1000)) FROM range(2000000) t(i)");
    await expect(store.query(large)).rejects.toThrow(/memory/i);
    expect(await idsOf(store)).toEqual(["e0", "e1", "e2"]);
  });
});

describe("slow queries", () => {
  test("keep neither timers, nor files, nor names waiting", async () => {
    const store = await open(baseline);
    const stop = new AbortController();
    let over = 0;
    const slow = Array.from({ length: 6 }, () =>
      store.query(slowQuery, { signal: stop.signal }).finally(() => over++),
    );
    const ended = Promise.allSettled(slow);
    for (let round = 0; round < 5; round++) {
      // A timer of its own: what is tested is that it fires.
      await new Promise((resolve) => setTimeout(resolve, 1));
      await readFile(baseline);
      await lookup("localhost");
    }
    expect(over).toBe(0);
    stop.abort();
    expect((await ended).map(({ status }) => status)).toEqual(slow.map(() => "rejected"));
  });

  test("end soon after they are cancelled or their time is over, whether they run or wait", async () => {
    const store = await open(baseline);
    const stop = new AbortController();
    const queries = Array.from({ length: 4 }, () => store.query(slowQuery, { signal: stop.signal }));
    const timed = store.query(slowQuery, { deadlineMs: 50 });
    await expect(timed).rejects.toMatchObject({ name: "QueryInterrupted", reason: "deadline" });
    stop.abort();
    // Hours before they would be over.
    const cancelled = { status: "rejected", reason: { reason: "cancelled" } };
    expect(await Promise.allSettled(queries)).toMatchObject(queries.map(() => cancelled));
    await expect(store.query(slowQuery, { signal: stop.signal })).rejects.toThrow(QueryInterrupted);
    expect(await idsOf(store)).toHaveLength(3);
  });
});

describe("the gate", () => {
  const held = () => {
    let release = () => {};
    const promise = new Promise<void>((resolve) => {
      release = resolve;
    });
    return { promise, release };
  };

  test("runs two at once, and owners take turns", async () => {
    const gate = new QueryGate(2, 10);
    const [a, b] = [{}, {}];
    const order: string[] = [];
    const first = held();
    let atWork = 0;
    let most = 0;
    const work = (owner: object, name: string) =>
      gate.run(owner, async () => {
        most = Math.max(most, ++atWork);
        order.push(name);
        await first.promise;
        atWork--;
      });
    const all = [work(a, "a1"), work(a, "a2"), work(a, "a3"), work(a, "a4"), work(b, "b1"), work(b, "b2")];
    first.release();
    await Promise.all(all);
    expect(most).toBe(2);
    expect(order).toEqual(["a1", "a2", "a3", "b1", "a4", "b2"]);
  });

  test("a full queue is an error of its own, and an aborted wait leaves the queue", async () => {
    const gate = new QueryGate(1, 1);
    const owner = {};
    const first = held();
    const running = gate.run(owner, () => first.promise);
    const stop = new AbortController();
    const waiting = gate.run(owner, async () => "never", stop.signal);
    await expect(gate.run(owner, async () => {})).rejects.toThrow(QueueFull);
    stop.abort();
    await expect(waiting).rejects.toThrow();
    const next = gate.run(owner, async () => "next");
    first.release();
    await running;
    expect(await next).toBe("next");
  });
});
