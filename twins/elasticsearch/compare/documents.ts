/** The documents that both servers have, and arbitraries of what stands in them. */

import { list, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";

/** Few enough that an answer takes a millisecond, enough that words differ in how rare they are. */
const DOCUMENTS = 120;

const VOCABULARY = "error timeout checkout pool exhausted upstream payment card declined retry the in of";
export const word = fc.oneof(
  { weight: 5, arbitrary: words(VOCABULARY) },
  { weight: 1, arbitrary: words("Error TIMEOUT Checkout 200 500 web-1 web-2 pool.size it's GET") },
);

const message = fc.oneof(
  { weight: 8, arbitrary: list(word, " ", { min: 1, max: 12 }) },
  { weight: 1, arbitrary: list(word, ", ", { min: 2, max: 5 }) },
  { weight: 1, arbitrary: fc.constantFrom("", "über naïve café", "/api/checkout?id=7", "a_b c-d e/f") },
);
export const title = list(word, " ", { min: 1, max: 3 });
export const level = words("info warn error debug");
export const tag = words("http db zone-a zone-b Zone-A slow");
export const host = words("web-1 web-2 web-3 web-10 db-1");
/** Exact as a float, so that both sum alike. */
const quarters = (max: number) => fc.integer({ min: -8, max }).map((count) => count / 4);
const took = quarters(400);
export const service = words("pay cart auth Pay");
export const client = words("10.0.0.1 10.0.0.7 192.168.1.10 172.16.5.4 2001:db8::1");
const day = fc.integer({ min: 1, max: 28 }).map((number) => `${String(number).padStart(2, "0")}.02.2026`);
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
    service,
    zone: words("eu us EU"),
    status: fc.constantFrom(200, 404, 500),
    rank: fc.integer({ min: -3, max: 9 }),
    bytes: fc.oneof(fc.integer({ min: 0, max: 9_000 }), fc.constant(2 ** 40)),
    ratio: quarters(12),
    load: quarters(40),
    day,
    client: fc.oneof(client, fc.array(client, { maxLength: 2 })),
    active: fc.boolean(),
  },
  { requiredKeys: ["at", "message", "level"] },
);

/** Always the same ones, so that a request alone repeats what it showed. */
export function documents(): { id: string; source: object }[] {
  const sources = fc.sample(document, { seed: 8_150, numRuns: DOCUMENTS });
  return sources.map((source, number) => ({ id: `d${number}`, source }));
}
