/** In `vendor`, an index with an explicit mapping answers like a dataset of the same documents and types. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
});
afterAll(() => sandbox.stop());

const DATASET = "logs";
const OWN = "owns";

/** Dataset texts have a keyword beside them, as by dynamic mapping. */
const types = {
  message: { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } },
  "host.name": { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } },
  bytes: { type: "long" },
  load: { type: "double" },
  ok: { type: "boolean" },
  at: { type: "date" },
} as const;
const fields = Object.keys(types);
const names = [...fields, "message.keyword", "host.name.keyword", "host", "nowhere"];

const word = fc.constantFrom("disk", "full", "Disk", "all", "is", "well", "web-1", "");
const text = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(" "));
const day = fc
  .integer({ min: 1, max: 28 })
  .map((number) => `2026-03-${String(number).padStart(2, "0")}T10:00:00Z`);
const few = <Value>(one: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 4, arbitrary: one }, fc.array(one, { maxLength: 3 }));
const number = fc.constantFrom(-3, 0, 1, 2, 7, 1000);

const document = fc
  .record(
    {
      message: few(text),
      host: fc.record({ name: few(word) }, { requiredKeys: [] }),
      bytes: few(number),
      load: few(fc.constantFrom(0.5, -1.25, 2, 3.75)),
      ok: few(fc.boolean()),
      at: few(day),
    },
    { requiredKeys: [] },
  )
  .map((event) => JSON.parse(JSON.stringify(event)) as object);

const name = fc.constantFrom(...names);
const value = fc.oneof(word, number, fc.boolean(), day, fc.constantFrom("2", "true", "x"));
const leaf = fc.oneof(
  fc.tuple(name, value).map(([field, given]) => ({ term: { [field]: { value: given } } })),
  fc.tuple(name, fc.array(value, { maxLength: 3 })).map(([field, given]) => ({ terms: { [field]: given } })),
  fc.tuple(name, text).map(([field, given]) => ({ match: { [field]: given } })),
  fc.tuple(name, text).map(([field, given]) => ({ match_phrase: { [field]: given } })),
  fc.tuple(name, value).map(([field, gte]) => ({ range: { [field]: { gte } } })),
  fc.tuple(name, word).map(([field, given]) => ({ prefix: { [field]: given } })),
  fc.tuple(name, word).map(([field, given]) => ({ wildcard: { [field]: `${given}*` } })),
  fc.tuple(name, word).map(([field, given]) => ({ fuzzy: { [field]: given } })),
  name.map((field) => ({ exists: { field } })),
  text.map((query) => ({ multi_match: { query, lenient: true } })),
  fc
    .tuple(name, word)
    .map(([field, given]) => ({ query_string: { query: `${field}:${given || "*"}`, lenient: true } })),
  text.map((query) => ({ simple_query_string: { query } })),
  fc.constant({ match_all: {} }),
);
const query = fc.oneof(
  { weight: 2, arbitrary: leaf },
  fc
    .record(
      {
        must: fc.array(leaf, { maxLength: 2 }),
        should: fc.array(leaf, { maxLength: 2 }),
        must_not: fc.array(leaf, { maxLength: 1 }),
      },
      { requiredKeys: [] },
    )
    .map((bool) => ({ bool })),
  fc
    .array(leaf, { minLength: 1, maxLength: 3 })
    .map((queries) => ({ dis_max: { queries, tie_breaker: 0.3 } })),
);
const aggregation = fc.oneof(
  name.map((field) => ({ terms: { field, size: 3 } })),
  name.map((field) => ({ missing: { field } })),
  fc
    .tuple(fc.constantFrom("min", "max", "avg", "stats", "cardinality", "value_count"), name)
    .map(([kind, field]) => ({ [kind]: { field } })),
  name.map((field) => ({ date_histogram: { field, calendar_interval: "week", min_doc_count: 1 } })),
  name.map((field) => ({ histogram: { field, interval: 2, min_doc_count: 1 } })),
  leaf.map((filter) => ({
    filter,
    aggs: { inner: { top_hits: { size: 1, _source: false, sort: ["bytes"] } } },
  })),
);
const search = fc.record(
  {
    query,
    sort: fc.array(
      fc.tuple(name, fc.constantFrom("asc", "desc")).map(([field, order]) => ({ [field]: { order } })),
      { maxLength: 2 },
    ),
    aggs: fc.record({ a: aggregation, b: aggregation }, { requiredKeys: [] }),
    fields: fc.constant(["*"]),
    docvalue_fields: fc.constantFrom(["bytes", "at"], ["message.keyword"], ["message"]),
    highlight: fc.constant({ fields: { "*": {} } }),
    track_scores: fc.boolean(),
    explain: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** Loads the same documents into an index of the dataset and one with a mapping. */
async function load(documents: readonly object[]): Promise<void> {
  const data = {
    events: [DATASET, OWN].flatMap((_index) =>
      documents.map((event, id) => ({ _id: String(id), _index, ...event })),
    ),
    fields: fields.map((field) => ({ name: field, type: types[field as keyof typeof types].type })),
    indices: [{ name: OWN, definition: { mapping: { properties: types } } }],
  };
  const answer = await sandbox.control("POST", "/reset", { data });
  expect(answer.status, answer.text).toBe(200);
}

/** An answer without times, and with one name for both indices. */
async function answerOf(
  index: string,
  path: string,
  body: object,
): Promise<{ status: number; body: unknown }> {
  const { status, text: answered } = await sandbox.raw("POST", `/${index}/${path}`, body);
  const told = answered
    .replaceAll(index, "an-index")
    // Dynamic mapping makes fractions float.
    .replaceAll("which is of type [double]", "which is of type [float]")
    .replaceAll(/"took":\d+/g, '"took":0')
    .replaceAll(/"index_uuid":"[^"]*"/g, '"index_uuid":""');
  return { status, body: JSON.parse(told) };
}

test("an index with an explicit mapping answers as a dataset of the same types", async () => {
  const statuses = new Set<number>();
  const documents = fc.array(document, { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.array(search, { minLength: 12, maxLength: 20 }),
      async (events, searches) => {
        await load(events);
        for (const body of searches) {
          const [ofDataset, ofOwn] = await Promise.all([
            answerOf(DATASET, "_search", body),
            answerOf(OWN, "_search", body),
          ]);
          statuses.add(ofDataset.status);
          expect(ofOwn, JSON.stringify(body)).toEqual(ofDataset);
        }
        const caps = await Promise.all([DATASET, OWN].map((index) => answerOf(index, "_count", {})));
        expect(caps[0]).toEqual(caps[1]);
      },
    ),
    { numRuns: 5 },
  );
  expect(statuses).toEqual(new Set([200, 400]));
});
