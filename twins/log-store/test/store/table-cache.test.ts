/** Rows that statements read again and again are kept in memory, as many as there is room for. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { CachedTable } from "../../cached-table.ts";
import { cachedTable, sql } from "../../sql.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import type { LogStore } from "../../store/log-store.ts";

let store: LogStore;
beforeEach(async () => {
  store = await openLogStore();
});
afterEach(() => store.close());

const columns = [
  { name: "c0", type: "text", multi: false },
  { name: "c1", type: "number", multi: false },
  { name: "c2", type: "text", multi: true },
] as const;
const rowsOf = (of: string, count: number, text = "x") =>
  new CachedTable(
    of,
    columns,
    Array.from({ length: count }, (_, n) => [
      n % 2 === 0 ? `${text}${n}` : null,
      n,
      n === 0 ? ["a", "b"] : null,
    ]),
  );
const asking = new Set<unknown>();
/** The tables there are, without those of asking: one is made after those are dropped that are to be. */
const tables = async () => {
  const probe = rowsOf("asking", 1);
  asking.add(probe.table);
  const { rows } = await store.query(
    sql`SELECT table_name FROM duckdb_tables(), ${cachedTable(probe)} WHERE database_name = 'memory' ORDER BY table_oid`,
  );
  return rows.map(([name]) => name).filter((name) => !asking.has(name));
};

test("a statement reads them in a table, in their order, with their types", async () => {
  const rows = rowsOf("hosts", 3);
  const statement = sql`SELECT * FROM ${cachedTable(rows)} ORDER BY n DESC`;
  const expected = [
    ["x2", 2, null, 2],
    [null, 1, null, 1],
    ["x0", 0, ["a", "b"], 0],
  ];
  expect((await store.query(statement)).rows).toEqual(expected);
  expect((await store.query(statement)).rows).toEqual(expected);
  expect(await tables()).toEqual([rows.table]);
});

test("statements at the same time share a table, and read several", async () => {
  const [a, b] = [rowsOf("a", 5_000), rowsOf("b", 3)];
  const counts = await Promise.all(
    Array.from({ length: 8 }, () =>
      store.query(sql`SELECT count(*) FROM ${cachedTable(a)} AS a JOIN ${cachedTable(b)} AS b USING (n)`),
    ),
  );
  expect(counts.map(({ rows }) => rows)).toEqual(Array(8).fill([[3]]));
  expect((await tables()).toSorted()).toEqual([a.table, b.table].toSorted());
});

test("later rows of the same take the place of those before, which can be read again", async () => {
  const [before, after] = [rowsOf("hosts", 2, "before"), rowsOf("hosts", 2, "after")];
  const first = async (rows: CachedTable) =>
    (await store.query(sql`SELECT c0 FROM ${cachedTable(rows)} WHERE n = 0`)).rows[0]?.[0];
  expect(await first(before)).toBe("before0");
  expect(await first(after)).toBe("after0");
  expect(await tables()).toEqual([after.table]);
  expect(await first(before)).toBe("before0");
  expect(await first(after)).toBe("after0");
  expect(await tables()).toEqual([after.table]);
});

test("those that were not read for longest make room for others", async () => {
  const large = [1, 2, 3, 4].map((n) => rowsOf(`large ${n}`, 1_000, "y".repeat(20_000)));
  for (const rows of large) {
    expect((await store.query(sql`SELECT count(*) FROM ${cachedTable(rows)}`)).rows).toEqual([[1_000]]);
  }
  expect(await tables()).toEqual(large.slice(1).map(({ table }) => table));
  const many = Array.from({ length: 70 }, (_, n) => rowsOf(`small ${n}`, 1));
  for (const rows of many) await store.query(sql`SELECT count(*) FROM ${cachedTable(rows)}`);
  expect(await tables()).toHaveLength(64);
});

test("a cached table that cannot be created fails its statement alone", async () => {
  const wrong = new CachedTable("wrong", [columns[0], columns[0]], [["a", "b"]]);
  await expect(store.query(sql`SELECT * FROM ${cachedTable(wrong)}`)).rejects.toThrow();
  const right = rowsOf("right", 1);
  expect((await store.query(sql`SELECT n FROM ${cachedTable(right)}`)).rows).toEqual([[0]]);
});
