/** The documents that both servers have, and arbitraries of their fields and of what stands in them. */
import fc from "fast-check";
import { list, words } from "../fuzz/text.ts";

/** Few enough that an answer takes a millisecond, enough that words differ in how rare they are. */
const DOCUMENTS = 120;

const VOCABULARY = "error timeout checkout pool exhausted upstream payment card declined retry the in of";
const word = fc.oneof(
  { weight: 5, arbitrary: words(VOCABULARY) },
  { weight: 1, arbitrary: words("Error TIMEOUT Checkout 200 500 web-1 web-2 pool.size it's GET") },
);

const message = fc.oneof(
  { weight: 8, arbitrary: list(word, " ", { min: 1, max: 12 }) },
  { weight: 1, arbitrary: list(word, ", ", { min: 2, max: 5 }) },
  { weight: 1, arbitrary: fc.constantFrom("", "über naïve café", "/api/checkout?id=7", "a_b c-d e/f") },
);
const title = list(word, " ", { min: 1, max: 3 });
const level = words("info warn error debug");
const tag = words("http db zone-a zone-b Zone-A slow");
const host = words("web-1 web-2 web-3 web-10 db-1");
/** Exact as a float, so that both sum alike. */
const took = fc.integer({ min: -8, max: 400 }).map((quarters) => quarters / 4);
const at = fc
  .integer({ min: 0, max: 40 * 24 * 60 })
  .map((minutes) => new Date(Date.UTC(2026, 0, 20) + minutes * 60_000 + (minutes % 7) * 100).toISOString());

const document = fc.record(
  {
    at,
    message,
    title,
    level,
    host,
    tags: fc.oneof(tag, fc.array(tag, { maxLength: 3 })),
    code: fc.constantFrom(200, 201, 404, 500, 503, -1, 0),
    took,
    sizes: fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 3 }),
    ok: fc.boolean(),
    user: fc.record(
      { name: words("ada bob cyd Ada"), age: fc.integer({ min: 18, max: 70 }) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ["at", "message", "level"] },
);

/** Always the same ones, so that a request alone repeats what it showed. */
export function documents(): { id: string; source: object }[] {
  const sources = fc.sample(document, { seed: 8_150, numRuns: DOCUMENTS });
  return sources.map((source, number) => ({ id: `d${number}`, source }));
}

export const textField = words("message title");
export const keywordField = words("level.keyword host.keyword tags.keyword user.name.keyword title.keyword");
export const numberField = words("code took sizes user.age");
export const dateField = fc.constant("at");
export const booleanField = fc.constant("ok");
export const unmappedField = words("nope user message.nope");

/** A word as a query has it. */
export const queryWord = fc.oneof(
  { weight: 6, arbitrary: word },
  { weight: 1, arbitrary: words("nothing eror timeot chekout errors pools web") },
);
export const phrase = list(queryWord, " ", { min: 1, max: 4 });
export const keywordValue = fc.oneof(level, tag, host, words("ada bob nobody"), title);
export const numberValue = fc.oneof<fc.Arbitrary<unknown>[]>(
  fc.constantFrom(200, 404, 500, 0, -1, 5, 30, 50),
  fc.constantFrom(12.5, 0.5, -0.25, 200.5),
  fc.constantFrom("200", "12.5"),
);
export const dateValue = fc.oneof<fc.Arbitrary<unknown>[]>(
  fc.constantFrom("2026-02-01", "2026-02-01T12:00:00Z", "2026-02-01T12:00:00.500+02:00", "2026-02", "2026"),
  fc.constantFrom("2026-02-01||+3d/d", "2026-02-10||/M", "2026-02-10T10:00:00||-1h", "now", "now-10y/y"),
  fc.constantFrom(1_769_904_000_000, "1769904000000"),
);

/** A field with a value of its kind. */
export const fieldAndValue: fc.Arbitrary<[field: string, value: unknown]> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(textField, queryWord) },
  { weight: 4, arbitrary: fc.tuple(keywordField, keywordValue) },
  { weight: 3, arbitrary: fc.tuple(numberField, numberValue) },
  { weight: 2, arbitrary: fc.tuple(dateField, dateValue) },
  {
    weight: 1,
    arbitrary: fc.tuple(booleanField, fc.constantFrom<unknown>(true, false, "true", "false", "")),
  },
  { weight: 1, arbitrary: fc.tuple(unmappedField, queryWord) },
);
export const anyField = fieldAndValue.map(([field]) => field);
