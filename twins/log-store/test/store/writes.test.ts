import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { identifier, joined, raw, sql } from "../../sql.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import { generatedId } from "../../store/generated-id.ts";
import { type LogStore, UnfitDocuments } from "../../store/log-store.ts";
import { analyze } from "../../text/analysis.ts";

let store: LogStore;
beforeEach(async () => {
  store = await openLogStore();
});
afterEach(() => store.close());

const write = (source: string, id?: string) =>
  store.writeEach([{ index: "logs", source, ...(id !== undefined && { id }) }]).then(([outcome]) => outcome);
const column = async (field: string) => {
  const { rows } = await store.query(
    sql`SELECT ${identifier(store.fields.get(field)?.column ?? "")} FROM documents ORDER BY _row`,
  );
  return rows.map(([value]) => value);
};
const typeOf = (field: string) => store.fields.get(field)?.type;

describe("a new field has the type of its first value", () => {
  test.each([
    ["5", "long"],
    ["5.0", "double"],
    ["1e3", "double"],
    ["true", "boolean"],
    ['"5"', "text"],
    ['"2020"', "text"],
    ['"1420070400001"', "text"],
    ['"2026-01-31"', "date"],
    ['"2026-01"', "date"],
    ['"2026-01-31T09:00:00.123456789+01:00"', "date"],
    ['"2026/01/31"', "date"],
    ['"2026/01/31 09:00:00"', "date"],
    ['"2026-02-30"', "text"],
    ['"31/01/2026"', "text"],
    ['[null, "x"]', "text"],
  ])("%s → %s", async (value, type) => {
    await write(`{"f": ${value}}`);
    expect(typeOf("f")).toBe(type);
  });

  test("null, empty arrays and empty objects make none", async () => {
    expect(await write('{"a": null, "b": [], "c": {}, "d": [null], "e": [[]]}')).toMatchObject({
      outcome: "written",
    });
    expect(store.fields.size).toBe(0);
  });
});

describe("a value is coerced to its field, or its document is refused", () => {
  test.each<[string, string, unknown]>([
    ["1", '"5"', 5],
    ["1", "2.9", 2],
    ["1", '"-2.9"', -2],
    ["1", '""', null],
    ["1", "9007199254740993", 9007199254740993n],
    ["1", '"1e3"', 1000],
    ["1.5", '" 2.5 "', 2.5],
    ["1.5", "7", 7],
    ['"x"', "5.10", "5.10"],
    ['"x"', "true", "true"],
    ["true", '"false"', false],
    ["true", '""', false],
    ['"2026-01-31"', "1420070400001", 1420070400001],
    ['"2026-01-31"', "2020", Date.UTC(2020, 0)],
    ['"2026-01-31"', '"2026-01-31T01:00:00.5Z"', Date.UTC(2026, 0, 31, 1, 0, 0, 500)],
  ])("%s, then %s", async (first, second, value) => {
    await write(`{"f": ${first}}`);
    expect(await write(`{"f": ${second}}`)).toMatchObject({ outcome: "written" });
    expect((await column("f"))[1]).toEqual(value);
  });

  test.each([
    ["1", '"cheap"', "not_a_number"],
    ["1", "true", "not_a_number"],
    ["1", "9223372036854775808", "out_of_range"],
    ["1", '[1, "x"]', "not_a_number"],
    ["1.5", '"NaN"', "not_finite"],
    ["1.5", "1e400", "not_finite"],
    ["true", '"yes"', "not_a_boolean"],
    ["true", "1", "not_a_boolean"],
    ['"2026-01-31"', '"yesterday"', "not_a_date"],
    ['"2026-01-31"', "true", "not_a_date"],
    ["1", '{"g": 1}', "object_for_value"],
    ['{"g": 1}', "1", "value_for_object"],
  ])("%s, then %s is %s", async (first, second, kind) => {
    await write(`{"f": ${first}}`);
    const fields = store.fields.all();
    const source = `{"other": 1,\n "f": ${second}}`;
    expect(await write(source)).toMatchObject({ outcome: "unfit", misfit: { kind, line: 2 } });
    expect(store.fields.all()).toEqual(fields);
    expect((await store.counts()).get("logs")).toBe(1);
  });

  test.each([
    ["an object that does not end", '{"a": 1', "malformed_json"],
    ["a number that begins with 0", '{"a": 01}', "malformed_json"],
    ["two members of one name", '{"a": 1, "a": 2}', "malformed_json"],
    ["an array", "[1]", "malformed_json"],
    ["a line break in a string", '{"a": "\n"}', "malformed_json"],
    ["an empty name", '{"": 1}', "bad_field_name"],
    ["nothing between two dots", '{"a..b": 1}', "bad_field_name"],
    ["U+0000 in a name", '{"a\\u0000b": 1}', "bad_field_name"],
    ["a name of the vendor's own", '{"_id": 1}', "metadata_field"],
    ["25 objects in one another", `${'{"a":'.repeat(25)}1${"}".repeat(25)}`, "too_deep"],
    ["1001 fields", `{${Array.from({ length: 1001 }, (_, index) => `"f${index}": 1`)}}`, "too_many_fields"],
  ])("%s is refused", async (_name, source, kind) => {
    expect(await write(source)).toMatchObject({ outcome: "unfit", misfit: { kind } });
    expect(store.fields.size).toBe(0);
  });

  test("a misfit names its type, value and place", async () => {
    await write('{"price": 1}');
    expect(await write('{"price": "cheap"}', "x")).toEqual({
      outcome: "unfit",
      id: "x",
      index: "logs",
      misfit: {
        kind: "not_a_number",
        field: "price",
        type: "long",
        value: '"cheap"',
        reason: 'For input string: "cheap"',
        line: 1,
        column: 11,
      },
    });
  });

  test("one that does not fit keeps the others from being written all or none, and not one by one", async () => {
    const documents = ['{"n": 1}', '{"n": "x"}', '{"n": 2}'].map((source) => ({ index: "logs", source }));
    await expect(store.write(documents)).rejects.toThrow(UnfitDocuments);
    expect((await store.counts()).size).toBe(0);
    expect((await store.writeEach(documents)).map(({ outcome }) => outcome)).toEqual([
      "written",
      "unfit",
      "written",
    ]);
  });
});

test("a field that gets several values is a list from then on, of a list of objects too", async () => {
  await write('{"tag": "a", "item": {"n": 1}, "none": 1}');
  await write('{"tag": ["b", null, ["c"]], "item": [{"n": 2}, {"n": "3"}]}');
  await write('{"tag": "d"}');
  expect(store.fields.get("tag")).toMatchObject({ multi: true });
  expect(await column("tag")).toEqual([["a"], ["b", "c"], ["d"]]);
  expect(await column("item.n")).toEqual([[1], [2, 3], null]);
  expect(await column("none")).toEqual([1, null, null]);
});

test("dotted and nested names are the same field, and case makes another", async () => {
  await write('{"a.b": 1, "a": {"B": 2}}');
  await write('{"a": {"b": 3}}');
  expect(store.fields.all().map(({ name }) => name)).toEqual(["a.B", "a.b"]);
  expect(await column("a.b")).toEqual([1, 3]);
  expect(await column("a.B")).toEqual([2, null]);
});

test("versions and numbers go on, conditions hold or conflict", async () => {
  const [first] = await store.writeEach([{ index: "logs", id: "a", source: "{}" }]);
  expect(first).toEqual({
    outcome: "written",
    id: "a",
    index: "logs",
    version: 1,
    seqNo: 0,
    result: "created",
  });
  const outcomes = await store.writeEach([
    { index: "logs", id: "a", source: "{}", op: "create" },
    { index: "logs", id: "a", source: "{}", condition: { seqNo: 0, primaryTerm: 1 } },
    { index: "logs", id: "a", source: "{}", condition: { seqNo: 0, primaryTerm: 1 } },
    { index: "logs", id: "b", source: "{}", condition: { seqNo: 0, primaryTerm: 1 } },
    { index: "other", id: "a", source: "{}", op: "create" },
  ]);
  expect(outcomes).toMatchObject([
    { outcome: "conflict", reason: "exists", current: { version: 1, seqNo: 0 } },
    { outcome: "written", version: 2, seqNo: 1, result: "updated" },
    { outcome: "conflict", reason: "changed", current: { version: 2, seqNo: 1 } },
    { outcome: "conflict", reason: "changed", current: undefined },
    { outcome: "written", version: 1, seqNo: 2, result: "created" },
  ]);
  expect(
    await store.remove([
      { index: "logs", id: "a" },
      { index: "logs", id: "c" },
    ]),
  ).toEqual([{ version: 3, seqNo: 3 }, undefined]);
  expect(await write("{}", "a")).toMatchObject({ version: 4, seqNo: 4, result: "created" });
});

test("ids that the store makes are 20 characters, the same for the same numbers, and no two of them alike", () => {
  const number = fc.oneof(fc.nat(50), fc.maxSafeNat());
  const pairs = fc.uniqueArray(fc.tuple(number, number), { maxLength: 400, selector: String });
  fc.assert(
    fc.property(pairs, (asked) => {
      const ids = asked.map(([seqNo, row]) => generatedId(seqNo, row));
      expect(new Set(ids).size).toBe(asked.length);
      expect(asked.map(([seqNo, row]) => generatedId(seqNo, row))).toEqual(ids);
      for (const id of ids) expect(id).toMatch(/^[\w-]{20}$/);
    }),
  );
});

describe("after any writes, replacements and removals", () => {
  const text = fc.constantFrom("one two", "two two three", "", "Two-Three", "naïve 日本", "one");
  const value = fc.oneof(text, fc.array(text, { maxLength: 3 }));
  const id = fc.constantFrom("a", "b", "c", "d", "e", "f");
  const command = fc.oneof(
    { weight: 3, arbitrary: fc.array(fc.record({ id, value }), { minLength: 1, maxLength: 6 }) },
    { weight: 1, arbitrary: id },
  );

  test("documents, postings and statistics are those of a plain map", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 8 }), async (commands) => {
        await store.reset();
        const model = new Map<string, string | string[]>();
        for (const given of commands) {
          if (typeof given === "string") {
            const [removed] = await store.remove([{ index: "logs", id: given }]);
            expect(removed !== undefined).toBe(model.delete(given));
          } else {
            const outcomes = await store.writeEach(
              given.map(({ id, value }) => ({ index: "logs", id, source: JSON.stringify({ text: value }) })),
            );
            outcomes.forEach((outcome, index) => {
              const { id = "", value = "" } = given[index] ?? {};
              expect(outcome).toMatchObject({ result: model.has(id) ? "updated" : "created" });
              model.set(id, value);
            });
          }
        }
        const found = await store.byId("logs", [...model.keys(), "z"]);
        expect(new Map(found.map(({ id, source }) => [id, JSON.parse(source).text]))).toEqual(model);
        const postings = store.fields.get("text")?.postings;
        if (!postings) {
          expect(
            commands.flat().filter((given) => typeof given === "object" && given.value.length > 0),
          ).toEqual([]);
          return;
        }
        const { rows } = await store.query(
          sql`SELECT _id, list(concat_ws(' ', term, position, frequency, length) ORDER BY position) FROM ${identifier(postings)}
            JOIN documents USING (_row) GROUP BY 1`,
        );
        const expected = [...model]
          .map(([id, value]): [string, string[]] => [id, postingsOf([value].flat())])
          .filter(([, postings]) => postings.length > 0);
        expect(new Map(rows.map(([id, list]) => [id, list]))).toEqual(new Map(expected));
        const lengths = expected.map(([, { length }]) => length);
        const statistics = await store.query(raw("SELECT field, documents, tokens FROM field_statistics"));
        expect(statistics.rows).toEqual([
          ["text", lengths.length, lengths.reduce((sum, length) => sum + length, 0)],
        ]);
      }),
      { numRuns: 20 },
    );
  });

  function postingsOf(values: string[]): string[] {
    const tokens: { term: string; position: number }[] = [];
    for (const [index, value] of values.entries()) {
      const before = tokens.length + 100 * index;
      for (const { term, position } of analyze(value)) tokens.push({ term, position: position + before });
    }
    return tokens.map(({ term, position }, index) => {
      const same = tokens.filter((token) => token.term === term);
      const frequency = tokens.findIndex((token) => token.term === term) === index ? same.length : 0;
      return `${term} ${position} ${frequency} ${tokens.length}`;
    });
  }
});

test("postings that are sorted and merged while more are written stay the same", async () => {
  const words = Array.from({ length: 40 }, (_, index) => `w${index}`);
  let written = 0;
  for (let batch = 0; batch < 16; batch++) {
    const documents = Array.from({ length: 1000 }, (_, index) => {
      const text = words.map((_, step) => words[(index * 7 + step * step + batch) % words.length]).join(" ");
      return { index: "logs", id: `${batch}-${index}`, source: JSON.stringify({ text }) };
    });
    await store.writeEach(documents);
    written += documents.length;
    if (batch === 8) await store.remove(documents.slice(0, 500).map(({ index, id }) => ({ index, id })));
  }
  const { rows } = await store.query(
    raw(
      "SELECT count(*), count(DISTINCT _row), sum(frequency), (SELECT tokens FROM field_statistics) FROM postings_0",
    ),
  );
  const tokens = (written - 500) * words.length;
  expect(rows).toEqual([[tokens, written - 500, tokens, tokens]]);
});

test("statistics stay correct when the counts of many writes are compacted", async () => {
  const names = Array.from({ length: 100 }, (_, number) => `f${number}`);
  const source = JSON.stringify(Object.fromEntries(names.map((name) => [name, "two words"])));
  for (let written = 0; written < 22; written++) {
    await write(source);
    // Who reads has what was written stored.
    await store.counts();
  }
  const { rows: kept } = await store.query(raw("SELECT count(*) FROM counted_tokens"));
  expect(kept[0]?.[0]).toBeLessThan(22 * names.length);
  const { rows } = await store.query(
    raw("SELECT DISTINCT documents, tokens, count(*) OVER () FROM field_statistics"),
  );
  expect(rows).toEqual([[22, 44, names.length]]);
});

test("a statement that comes again sees fields that were added, and values that have become lists", async () => {
  const statement = raw(
    "SELECT * EXCLUDE (_row, _id, _version, _seq_no, _source) FROM documents ORDER BY _row",
  );
  await write('{"a": 1}');
  expect(await store.query(statement)).toEqual({ columns: ["_index", "a"], rows: [["logs", 1]] });
  await write('{"a": [2, 3], "b": "x"}');
  expect(await store.query(statement)).toEqual({
    columns: ["_index", "a", "b"],
    rows: [
      ["logs", [1], null],
      ["logs", [2, 3], "x"],
    ],
  });
});

test("numbers and truth values mean the same written out as bound: their types, and every digit", async () => {
  const big = [0n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n, -(2n ** 100n)];
  const numbers = [0, -0, -5, 0.1, 1e21, 5e-324, Number.MAX_VALUE, 123456789.12345679, -0.30000000000000004];
  const values = [...big, ...numbers, Number.NaN, Number.NEGATIVE_INFINITY, true, false, null];
  const minus = (value: unknown) => (typeof value === "number" ? value : 1);
  const items = values.map((value) => sql`${value}, typeof(${value}), 1 -${minus(value)}`);
  // With a text among them all are bound.
  const [bound = []] = (await store.query(sql`SELECT ${joined(items, ", ")}, ${"text"}`)).rows;
  const { rows } = await store.query(sql`SELECT ${joined(items, ", ")}`);
  expect(bound.slice(0, -1)).toHaveLength(values.length * 3);
  expect(rows).toEqual([bound.slice(0, -1)]);
});

test("a repeated statement with numbers alone sees new writes, also if it joins rows", async () => {
  const below = (row: bigint) => sql`SELECT count(*) FROM documents WHERE _row < ${row}`;
  const joinedRows = sql`SELECT count(*) FROM documents AS a ASOF JOIN documents AS b ON a._index = b._index AND a._row >= b._row`;
  for (const count of [1, 2, 3]) {
    await write('{"a":1}');
    for (const _ of [1, 2, 3]) {
      expect((await store.query(below(2n))).rows).toEqual([[Math.min(count, 2)]]);
      expect((await store.query(joinedRows)).rows).toEqual([[count]]);
    }
  }
});
