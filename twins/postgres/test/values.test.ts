import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PostgresTwin } from "../index.ts";
import { connect, startPostgresTwin } from "../testing/postgres-twin.ts";
import { parseArrayText, writeArrayText } from "../world/array-text.ts";

let twin: PostgresTwin;
let client: pg.Client;

beforeAll(async () => {
  twin = await startPostgresTwin();
  client = await connect(twin.url);
  await client.query(`
    CREATE TYPE colour AS ENUM ('red', 'green, or so', '"blue"');
    CREATE TYPE pair AS (a int, b text);
    CREATE DOMAIN positive AS int CHECK (VALUE > 0);
    CREATE TABLE everything (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      i2 smallint, i4 int, i8 bigint, n numeric, n2 numeric(20,4), f4 real, f8 double precision, b boolean,
      t text, v varchar(40), c char(5), ts timestamp, tz timestamptz, d date, ti time, iv interval, u uuid,
      j json, jb jsonb, by bytea, e colour, p pair, dom positive, ip inet, r int4range,
      at text[], ai int[], atz timestamptz[], ajb jsonb[], ae colour[], abo boolean[], af double precision[],
      doubled bigint GENERATED ALWAYS AS (i4 * 2) STORED
    );`);
});
afterAll(async () => {
  await client.end();
  await twin.stop();
});

/** The table as Postgres writes it: what must be the same after a load. */
async function asPostgresHasIt(): Promise<string[]> {
  const { rows } = await client.query(
    "SELECT everything::text AS line FROM everything ORDER BY tableoid, ctid",
  );
  return rows.map(({ line }) => line);
}

/** A snapshot crosses as JSON; what comes back from it is the same world. */
async function loadFromJson(): Promise<void> {
  const before = await asPostgresHasIt();
  const snapshot = await twin.world.dump();
  await client.query("TRUNCATE everything RESTART IDENTITY; SELECT setval('incident_number', 5)");
  await twin.world.load(JSON.parse(JSON.stringify(snapshot)));
  expect(await asPostgresHasIt()).toEqual(before);
  expect(await twin.world.dump()).toEqual(snapshot);
}

const text = fc.string({ unit: "grapheme", maxLength: 12 }).map((value) => value.replaceAll("\0", ""));
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value): unknown => JSON.parse(JSON.stringify(value).replaceAll("\\u0000", "")));
const microseconds = fc.bigInt(-62_135_596_800_000_000n, 253_402_300_799_999_999n);
const timestamp = microseconds.map((value) => {
  const seconds = new Date(Number(value / 1000n)).toISOString().slice(0, 19);
  const fraction = String(((value % 1_000_000n) + 1_000_000n) % 1_000_000n).padStart(6, "0");
  return `${seconds}.${fraction}Z`;
});
const row = fc.record(
  {
    i2: fc.integer({ min: -32_768, max: 32_767 }),
    i4: fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }),
    i8: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String),
    n: fc.tuple(fc.bigInt(), fc.nat({ max: 10 ** 9 })).map(([whole, part]) => `${whole}.${part}`),
    f4: fc.float({ noNaN: true, noDefaultInfinity: true }),
    f8: fc.double({ noNaN: true, noDefaultInfinity: true }),
    b: fc.boolean(),
    t: text,
    v: text,
    tz: timestamp,
    ts: timestamp.map((value) => value.slice(0, -1)),
    u: fc.uuid(),
    j: json,
    jb: json,
    by: fc.uint8Array({ maxLength: 20 }).map((bytes) => `\\x${Buffer.from(bytes).toString("hex")}`),
    e: fc.constantFrom("red", "green, or so", '"blue"', null),
    dom: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    at: fc.array(fc.option(text), { maxLength: 4 }),
    ai: fc.array(fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 2, maxLength: 2 }), { maxLength: 3 }),
    ajb: fc.array(json, { maxLength: 3 }),
    abo: fc.array(fc.boolean(), { maxLength: 3 }),
    af: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 3 }),
  },
  { requiredKeys: [] },
);

describe("values", () => {
  it("cross as JSON without loss: load gives back what dump took, for rows the control plane writes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 8 }), async (rows) => {
        await client.query("TRUNCATE everything");
        await twin.world.insert({ everything: rows });
        await loadFromJson();
      }),
      { numRuns: 40 },
    );
  });

  it("cross without loss at their extremes, as the code under test writes them", async () => {
    await client.query("TRUNCATE everything");
    await client.query(`INSERT INTO everything (tz, ts, d, f4, f8, n, j, jb, at, ai, ajb, af, iv, ti, c, p, ip, r, i8, n2) VALUES
      ('infinity', '-infinity', 'infinity', 'NaN', '-0', 'NaN', 'null', 'null', '{NULL,"NULL","a\\"b","c\\\\d",""}', '[2:3]={1,2}', ARRAY['null', '[1,[2]]']::jsonb[],
        '{NaN,Infinity,-0}', '1 year 2 mons -3 days 04:05:06.789', '24:00', 'ab', '(1,"x, ""y""")', '10.0.0.0/8', 'empty', 9223372036854775807, 1.5),
      ('0044-03-15 12:00:00.000001 BC', '4713-01-01 BC', '5874897-12-31', '-Infinity', 1e-310, 123456789012345678901234567890.1234567890,
        '{ "b": 1.0, "a" : [1e400], "b": 2 }', '{"n": 12345678901234567890, "x": 1.10, "y": {"10": 1, "a": 2, "9": null}}', '{}', '{{1,2},{3,4}}',
        ARRAY[ARRAY['1','2'],ARRAY['3','[4]']]::jsonb[], '{}', '-00:00:00.000001', '00:00', '', '(,)', '::1', '[1,5)', -9223372036854775808, -0.0001),
      ('2026-03-02 08:00:00.123456+05:30', '294276-12-31 23:59:59.999999', '0001-01-01', 3.4e38, 5e-324, 0.000, '{"a":1}', '{"$json": "\\"x\\""}', NULL, NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      (now(), NULL, NULL, 0.1, 1e21, 1e-20, '"text"', '"text"', NULL, NULL, NULL, '{1e21,0.1}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`);
    const { rows } = await twin.world.rows("everything", { limit: 10, offset: 0, where: {} });
    expect(rows[0]).toMatchObject({
      i8: "9223372036854775807",
      jb: { $json: "null" },
      ai: "[2:3]={1,2}",
      tz: "infinity",
    });
    expect(rows[1]).toMatchObject({
      ai: [
        [1, 2],
        [3, 4],
      ],
      f8: 1e-310,
      n: "123456789012345678901234567890.1234567890",
    });
    expect(rows[2]).toMatchObject({
      tz: "2026-03-02T02:30:00.123456Z",
      j: { a: 1 },
      jb: { $json: '{"$json": "\\"x\\""}' },
    });
    expect(rows[3]).toMatchObject({ j: "text", jb: "text", f4: 0.1 });
    await loadFromJson();
  });

  it("are the numbers and documents that a reader expects, and are taken back as they are read", async () => {
    await client.query("TRUNCATE everything; ALTER TABLE everything ADD COLUMN ab bigint[]");
    await client.query(`INSERT INTO everything (i8, ab, jb, j, ajb) VALUES
      (9007199254740991, '{1,9007199254740993,NULL}', '{"price": 1.50, "n": [1e3, -0.0], "deep": {"b": 1, "a": null}}', '{"a": 1, "b": [1.0, "\\u00e9"]}', ARRAY['{"x": 2.0}']::jsonb[]),
      (9007199254740993, '{}', '{"n": 12345678901234567890}', '{"a": 1, "a": 2}', '{}'),
      (-42, NULL, '0.1000000000000000055511151231257827', '{"10": 1, "a": 2, "9": 3}', NULL)`);
    const { rows } = await twin.world.rows("everything", { limit: 10, offset: 0, where: {} });
    expect(rows).toMatchObject([
      {
        i8: 9007199254740991,
        ab: [1, "9007199254740993", null],
        jb: { price: 1.5, n: [1000, 0], deep: { a: null, b: 1 } },
        j: { a: 1, b: [1, "é"] },
        ajb: [{ x: 2 }],
      },
      {
        i8: "9007199254740993",
        ab: [],
        jb: { $json: '{"n": 12345678901234567890}' },
        j: { $json: '{"a": 1, "a": 2}' },
      },
      { i8: -42, jb: { $json: "0.1000000000000000055511151231257827" } },
    ]);
    expect(rows[2]?.id).toEqual(expect.any(Number));
    const snapshot = await twin.world.dump();
    expect(snapshot.everything).toMatchObject(rows.map(({ doubled, ...row }) => row));
    await twin.world.load(JSON.parse(JSON.stringify(snapshot)));
    expect(await twin.world.dump()).toEqual(snapshot);
    const equal = await client.query(
      `SELECT count(*)::int AS n FROM everything WHERE jb = '{"price": 1.5, "n": [1000, 0], "deep": {"a": null, "b": 1}}' OR i8 = 9007199254740993`,
    );
    expect(equal.rows).toEqual([{ n: 2 }]);
    const { id, doubled, ...again } = rows[1] ?? {};
    await twin.world.insert({ everything: [again, { i8: 7, ab: [8, "9"] }] });
    expect(await twin.world.update("everything", { i8: "9007199254740993" }, { i8: 5 })).toBe(2);
    expect(await twin.world.update("everything", { i8: 7 }, { i8: "6" })).toBe(1);
    expect(await twin.world.rows("everything", { limit: 9, offset: 0, where: { i8: "6" } })).toMatchObject({
      rows: [{ i8: 6, ab: [8, 9] }],
    });
    await expect(twin.world.insert({ everything: [{ i8: 1.5 }, { i8: 2 ** 60 }] })).rejects.toMatchObject({
      problems: [{ column: "i8" }, { column: "i8", rule: expect.stringContaining("digits as text") }],
    });
    expect((await twin.world.dump()).pg_sequences).toContainEqual({
      sequence: "incident_number",
      last_value: expect.any(Number),
      is_called: true,
    });
    await client.query("ALTER TABLE everything DROP COLUMN ab");
  });

  it("keep the positions of sequences, of identity columns too, and the application's triggers rest during a load", async () => {
    await client.query(`
      CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.t := upper(NEW.t); RETURN NEW; END $$;
      TRUNCATE everything; INSERT INTO everything (t) VALUES ('quiet');
      CREATE TRIGGER shout BEFORE INSERT ON everything FOR EACH ROW EXECUTE FUNCTION shout()`);
    await loadFromJson();
    const next =
      "SELECT nextval(pg_get_serial_sequence('everything', 'id'))::int - max(id)::int AS ahead FROM everything";
    expect((await client.query(next)).rows).toEqual([{ ahead: 1 }]);
    await client.query("INSERT INTO everything (t) VALUES ('loud')");
    expect((await client.query("SELECT t FROM everything ORDER BY id")).rows).toEqual([
      { t: "quiet" },
      { t: "LOUD" },
    ]);
    await client.query("DROP FUNCTION shout CASCADE");
  });

  it("are refused by a load as by a write, and then nothing is changed", async () => {
    const before = await twin.world.dump();
    await expect(twin.world.load({ services: [{ name: 1 }], nothing: [] })).rejects.toMatchObject({
      problems: [{ column: "name" }, { column: "description" }, { table: "nothing" }],
    });
    await expect(
      twin.world.load({
        on_call: [{ service: "search", engineer_id: 1 }],
        pg_sequences: [{ sequence: "x", last_value: "1", is_called: true }],
      }),
    ).rejects.toThrow();
    await expect(twin.world.load({ on_call: [{ service: "search", engineer_id: 1 }] })).rejects.toMatchObject(
      {
        problems: [{ column: "engineer_id" }, { column: "service" }],
      },
    );
    expect(await twin.world.dump()).toEqual(before);
  });
});

describe("array text", () => {
  it("is read back as it was written", () => {
    const items = fc.array(fc.option(fc.string()), { maxLength: 5 });
    fc.assert(
      fc.property(items, (list) => {
        expect(parseArrayText(writeArrayText(list))).toEqual(list);
      }),
    );
  });
});
