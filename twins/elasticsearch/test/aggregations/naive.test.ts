import { sql } from "@offhook/log-store/sql";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Definition, evaluate, type Row } from "./naive.ts";
import { answered, storeOf } from "./support.ts";

const words = ["ant", "bee", "cat", "dog", "élan"];
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 4 });
const row: fc.Arbitrary<Row> = fc.record(
  {
    word: fc.constantFrom(...words),
    whole: fc.integer({ min: -20, max: 20 }),
    part: fc.integer({ min: -40, max: 40 }).map((quarters) => quarters / 4 + 0.125),
    flag: fc.boolean(),
    at: fc
      .integer({ min: 0, max: 120 * 24 * 60 })
      .map((minutes) => new Date(Date.UTC(2025, 10, 1) + minutes * 60_000).toISOString()),
    tags: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }),
    wholes: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: [] },
);
/** Fixes the fields' types: lists and doubles. */
const first: Row = {
  word: "ant",
  whole: 1,
  part: 0.125,
  flag: true,
  at: "2025-12-01T00:00:00.000Z",
  tags: ["ant", "bee"],
  wholes: [1, 1],
};

const numberField = fc.constantFrom("whole", "part", "wholes");
const metric: fc.Arbitrary<Definition> = fc.oneof(
  fc
    .tuple(fc.constantFrom("avg", "sum", "min", "max", "stats"), numberField)
    .map(([type, field]) => ({ [type]: { field } })),
  fc
    .tuple(
      fc.constantFrom("value_count", "cardinality"),
      fc.constantFrom("word", "whole", "tags", "wholes", "at"),
    )
    .map(([type, field]) => ({ [type]: { field } })),
  numberField.map((field) => ({ percentiles: { field, percents: [50] } })),
);
const query = fc.oneof(
  fc.constant({ match_all: {} }),
  fc.constantFrom(...words).map((word) => ({ term: { word } })),
);

function bucket(depth: number): fc.Arbitrary<Definition> {
  const aggs = fc.option(children(depth - 1), { nil: undefined });
  const named = (typed: Definition, inner: Record<string, Definition> | undefined): Definition =>
    inner ? { ...typed, aggs: inner } : typed;
  const terms = fc
    .tuple(
      fc.constantFrom("word", "whole", "flag", "tags", "wholes", "at"),
      optional(fc.integer({ min: 1, max: 4 })),
      optional(
        fc.constantFrom(
          { _key: "asc" },
          { _key: "desc" },
          { _count: "asc" },
          { _count: "desc" },
          { figure: "asc" },
          { figure: "desc" },
        ),
      ),
      optional(fc.constantFrom(0, 1, 2)),
      aggs,
      fc
        .constantFrom("avg", "sum", "min", "max", "value_count")
        .chain((type) => numberField.map((field): Definition => ({ [type]: { field } }))),
    )
    .map(([field, size, order, min_doc_count, inner, figure]) =>
      named(
        {
          terms: {
            field,
            ...(size && { size }),
            ...(order && { order }),
            ...(min_doc_count !== undefined && { min_doc_count }),
          },
        },
        { ...inner, figure },
      ),
    );
  return fc.oneof(
    terms,
    fc
      .tuple(
        fc.constantFrom(
          { calendar_interval: "month" },
          { calendar_interval: "day" },
          { fixed_interval: "1d" },
        ),
        optional(fc.constant("+02:00")),
        aggs,
      )
      .map(([interval, time_zone, inner]) =>
        named({ date_histogram: { field: "at", ...interval, ...(time_zone && { time_zone }) } }, inner),
      ),
    fc
      .tuple(numberField, fc.constantFrom(2, 5), aggs)
      .map(([field, interval, inner]) => named({ histogram: { field, interval } }, inner)),
    fc
      .tuple(numberField, aggs)
      .map(([field, inner]) =>
        named({ range: { field, ranges: [{ to: 0 }, { from: -5, to: 3 }, { from: 1 }] } }, inner),
      ),
    fc
      .tuple(fc.constantFrom("word", "part", "tags"), aggs)
      .map(([field, inner]) => named({ missing: { field } }, inner)),
    fc.tuple(query, aggs).map(([filter, inner]) => named({ filter }, inner)),
    fc.tuple(query, query, aggs).map(([a, b, inner]) => named({ filters: { filters: { a, b } } }, inner)),
  );
}

function children(depth: number): fc.Arbitrary<Record<string, Definition>> {
  const one =
    depth <= 0 ? metric : fc.oneof({ weight: 1, arbitrary: metric }, { weight: 2, arbitrary: bucket(depth) });
  return fc.dictionary(fc.constantFrom("p", "q", "r"), one, { minKeys: 1, maxKeys: 2 });
}

const tree = fc
  .tuple(children(3), fc.option(children(1), { nil: undefined }))
  .map(
    ([aggs, global]): Record<string, Definition> =>
      global ? { ...aggs, everything: { global: {}, aggs: global } } : aggs,
  );

/** Removes the members that the naive evaluator does not produce. */
function comparable(value: unknown): unknown {
  if (typeof value === "number") return Math.round(value * 1e6) / 1e6 + 0;
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  const left = Object.entries(value).filter(([name]) => !/_as_string$|^doc_count_error/.test(name));
  const isRange = "from" in value || "to" in value;
  return Object.fromEntries(
    left.filter(([name]) => !(isRange && name === "key")).map(([name, member]) => [name, comparable(member)]),
  );
}

test("random trees over random documents agree with the naive evaluator", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 25 }),
      fc.array(tree, { minLength: 4, maxLength: 4 }),
      fc.boolean(),
      async (rows, trees, filtered) => {
        const all = [first, ...rows];
        const store = await storeOf(all);
        try {
          for (const aggs of trees) {
            const matching = filtered ? all.filter(({ flag }) => flag === true) : all;
            const answer = await answered(
              store,
              aggs,
              filtered ? { predicate: sql`(d.flag IS NOT DISTINCT FROM TRUE)` } : {},
            );
            const expected = evaluate(aggs, matching, all);
            expect(comparable(answer), JSON.stringify(aggs)).toEqual(comparable(expected));
          }
        } finally {
          await store.close();
        }
      },
    ),
    { numRuns: 25 },
  );
});
