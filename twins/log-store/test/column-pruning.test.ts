import { expect, test } from "vitest";
import {
  prunableColumns,
  prunableTableColumn,
  pruneColumns,
  pruneTo,
  tableScope,
} from "../column-pruning.ts";
import { raw, type Sql, sql } from "../sql.ts";

function select(columns: Record<string, Sql>, from: Sql): Sql {
  const items = prunableColumns(
    Object.entries(columns).map(([column, value]) => ({ column, value })),
    [raw('"#order0"')],
  );
  return sql`SELECT ${items} FROM (${from}) AS r`;
}

const documents = raw("SELECT * FROM documents");

test("columns that nobody reads are left out, with their values", () => {
  const events = select(
    { host: sql`coalesce(${"h"}, x)`, punct: sql`left(${"p"}, 1)`, size: sql`${3}` },
    documents,
  );
  const statement = pruneColumns(sql`SELECT "size", count(*) FROM (${events}) AS r WHERE ${true}`);
  expect(statement.text).toBe(
    'SELECT "size", count(*) FROM (SELECT $1 AS "size", "#order0" FROM (SELECT * FROM documents) AS r) AS r WHERE $2',
  );
  expect(statement.values).toEqual([3, true]);
});

test("what a kept column reads is kept, through any number of steps; what one that is left out reads is not", () => {
  const inner = select({ a: raw("x1"), b: raw("x2"), c: raw("x3") }, documents);
  const outer = select({ a: raw('"a"'), d: raw('"b"'), e: raw('"c"') }, inner);
  const filtered = sql`SELECT * FROM (${outer}) AS r WHERE true`;
  expect(pruneColumns(sql`SELECT "d" FROM (${filtered}) AS r`).text).toBe(
    'SELECT "d" FROM (SELECT * FROM (SELECT "b" AS "d", "#order0" FROM (SELECT x2 AS "b", "#order0" FROM (SELECT * FROM documents) AS r) AS r) AS r WHERE true) AS r',
  );
});

test("a name is found as SQL finds it: quoted, bare, in any case, with quotes in it, but not in a text", () => {
  const columns = { Host: raw("1"), 'say "x"': raw("2"), bare: raw("3"), text: raw("4"), other: raw("5") };
  const read = raw(`SELECT "hOST", BARE, "say ""x""", 'it''s "text' AS t, '"'`);
  const { text } = pruneColumns(sql`${read} FROM (${select(columns, raw("SELECT 1"))}) AS r`);
  expect(text).toContain('SELECT 1 AS "Host", 2 AS "say ""x""", 3 AS "bare", "#order0" FROM');
});

test("an expression that makes rows stays, and so do the columns of a SELECT without a key", () => {
  const rows = select({ each: raw("unnest(list)"), plain: raw("1") }, documents);
  expect(pruneColumns(sql`SELECT count(*) FROM (${rows}) AS r`).text).toContain(
    'SELECT unnest(list) AS "each", "#order0" FROM',
  );
  expect(
    prunableColumns(
      [
        { column: "a", value: raw("1") },
        { column: "b", value: raw("2") },
      ],
      [],
    ).text,
  ).toBe('1 AS "a", 2 AS "b"');
});

test("all sides of a UNION keep the same columns", () => {
  const side = (value: Sql) => select({ a: value, b: value, c: value }, documents);
  const both = sql`${side(raw('"x"'))} UNION ALL ${side(raw('"c"'))}`;
  expect(pruneColumns(sql`SELECT "b" FROM (${both}) AS r`).text).toBe(
    'SELECT "b" FROM (SELECT "x" AS "b", "x" AS "c", "#order0" FROM (SELECT * FROM documents) AS r UNION ALL SELECT "c" AS "b", "c" AS "c", "#order0" FROM (SELECT * FROM documents) AS r) AS r',
  );
});

test("what reads a table alone keeps no column that is called as one of the table's", () => {
  const moment = prunableTableColumn("#moment", sql`coalesce("at", ${1})`);
  const columns = prunableColumns(
    [
      { column: "at", value: raw('strftime("at")') },
      { column: "host", value: raw('"host"') },
    ],
    [raw("_row")],
  );
  const events = sql`SELECT ${moment}${columns} FROM ${tableScope(sql`documents WHERE "at" > ${2}`)}`;
  const asked = (names: string) => pruneColumns(sql`SELECT ${raw(names)} FROM (${events}) AS r`);
  expect(asked('"host"').text).toBe(
    'SELECT "host" FROM (SELECT "host" AS "host", _row FROM documents WHERE "at" > $1) AS r',
  );
  expect(asked('"host"').values).toEqual([2]);
  expect(asked('"#moment"').text).toBe(
    'SELECT "#moment" FROM (SELECT coalesce("at", $1) AS "#moment", _row FROM documents WHERE "at" > $2) AS r',
  );
  expect(asked('"at"').text).toContain('strftime("at") AS "at", _row');
});

test("a part that gives some columns alone keeps what they need, whatever is read around it by the same names", () => {
  const inner = select({ a: sql`${"first"}`, b: sql`${"second"}`, c: sql`${"third"}` }, documents);
  const part = sql`SELECT ${prunableColumns([{ column: "place", value: raw('"a"') }], [raw('"#order0"')])} FROM (${inner}) AS r`;
  const around = (found: Sql) => pruneColumns(sql`SELECT "b", "place" FROM (${found}) AS f`);
  expect(around(pruneTo(["place"], part)).values).toEqual(["first"]);
  expect(around(part).values).toEqual(["first", "second"]);
  // What it gives and nobody reads is left out in the end.
  const unread = pruneColumns(sql`SELECT "#order0" FROM (${pruneTo(["place"], part)}) AS f`);
  expect(unread.text).not.toContain("place");
});
