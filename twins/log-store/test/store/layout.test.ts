import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FieldCatalog } from "../../fields.ts";
import { raw, sql } from "../../sql.ts";
import { read } from "../../store/duckdb.ts";
import { addFields, createTables, readCatalog, saveCatalog } from "../../store/layout.ts";
import { buildPostings } from "../../store/postings.ts";

let database: DuckDBInstance;
let connection: DuckDBConnection;
beforeEach(async () => {
  database = await DuckDBInstance.create(":memory:");
  connection = await database.connect();
  await createTables(connection);
});
afterEach(() => database.closeSync());

const none = new FieldCatalog([], undefined);

test("a catalog is read as it was saved, and names that differ only in case have columns of their own", async () => {
  const fields = await addFields(connection, none, [
    { name: "Level", type: "text", multi: false },
    { name: "level", type: "long", multi: true },
    { name: "_ID", type: "double", multi: false },
    { name: "@timestamp", type: "date", multi: false },
  ]);
  await saveCatalog(connection, { fields, nextRow: 7, nextSeqNo: 9 });
  const found = await readCatalog(connection);
  expect(found).toMatchObject({ nextRow: 7, nextSeqNo: 9 });
  expect(found.fields.all()).toEqual(fields.all());
  expect(found.fields.timeField?.name).toBe("@timestamp");
  const columns = fields.all().map(({ column }) => column.toLowerCase());
  expect(new Set(columns).size).toBe(4);
  expect(fields.get("level")?.column).not.toBe("level");
});

test("the values of a list are a hundred positions apart, and a term counts at its first place", async () => {
  const fields = await addFields(connection, none, [{ name: "tags", type: "text", multi: true }]);
  await connection.run(
    "INSERT INTO documents VALUES (3, 'a', 'logs', 1, 0, '{}', ['one two', '', 'two three'])",
  );
  const field = fields.all()[0];
  if (!field) throw new Error("no field");
  await buildPostings(connection, field, 0);
  const { rows } = await read(
    connection,
    sql`SELECT term, _row, position, frequency, length FROM postings_0 ORDER BY position`,
  );
  expect(rows).toEqual([
    ["one", 3, 1, 1, 4],
    ["two", 3, 2, 2, 4],
    ["two", 3, 203, 0, 4],
    ["three", 3, 204, 1, 4],
  ]);
});

test("postings that DuckDB and the program have made lie in one order", async () => {
  const fields = await addFields(connection, none, [{ name: "message", type: "text", multi: false }]);
  await connection.run(`INSERT INTO documents SELECT i, 'r' || i, 'logs', 1, i, '{}', CASE WHEN i % 1000 = 7 THEN 'wé' ELSE 'w' || (i * 7919 % 1000) END || ' all'
    FROM range(150000) t(i)`);
  const field = fields.all()[0];
  if (!field) throw new Error("no field");
  await buildPostings(connection, field, 0);
  const { rows } = await read(
    connection,
    raw(`SELECT count(*), count(*) FILTER (WHERE (term, _row, position) < before) FROM
      (SELECT term, _row, position, lag((term, _row, position)) OVER (ORDER BY rowid) AS before FROM postings_0_built)`),
  );
  expect(rows).toEqual([[300_000, 0]]);
});
