import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { rowsOf } from "../../store/duckdb.ts";

test("many rows are read in slices that yield to the event loop", async () => {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    const texts = Array.from({ length: 10 }, (_, n) => `'a text of more than twelve bytes ${n}' || i`);
    const result = await connection.run(`SELECT i, ${texts.join(", ")} FROM range(40000) t(i)`);
    let turns = 0;
    let over = false;
    const turn = () => {
      turns++;
      if (!over) setImmediate(turn);
    };
    setImmediate(turn);
    const rows = await rowsOf(result);
    over = true;
    expect(turns).toBeGreaterThan(3);
    expect(rows).toHaveLength(40_000);
    expect([rows[0]?.[0], rows[39_999]?.[0], rows[39_999]?.[10]]).toEqual([
      0,
      39_999,
      "a text of more than twelve bytes 939999",
    ]);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
});

test("an empty result has no rows, and values are plain", async () => {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    expect(await rowsOf(await connection.run("SELECT 1 WHERE false"))).toEqual([]);
    const mixed = await connection.run(
      "SELECT ['a', NULL], NULL, 2::BIGINT, true, TIMESTAMP '1970-01-01 00:00:01'",
    );
    expect(await rowsOf(mixed)).toEqual([[["a", null], null, 2, true, 1000]]);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
});
