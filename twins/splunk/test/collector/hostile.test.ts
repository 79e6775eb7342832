/**
 * Bodies of the collector that nobody would write by hand: whatever comes, it is read as JSON is, or refused.
 * Proves a part of twins/SECURITY.md.
 */

import { assignColumns, FieldCatalog } from "@offhook/log-store/fields";
import { DocumentFitter } from "@offhook/log-store/store/document-fitter";
import { Shapes } from "@offhook/log-store/store/fitted-document";
import { processorMsSince } from "@offhook/platform/testing/processor-time";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CollectorRefusal } from "../../collector/codes.ts";
import { type Envelope, EnvelopeReader } from "../../collector/envelopes.ts";
import { findPairs } from "../../collector/pairs.ts";
import { EventDocuments } from "../../world/event-documents.ts";

/** The envelopes of a body, and the number of the one that is refused. */
function read(body: string): { envelopes: Envelope[]; refused: number | undefined } {
  const reader = new EnvelopeReader(body);
  const envelopes: Envelope[] = [];
  try {
    for (let next = reader.next(); next; next = reader.next()) envelopes.push(next);
    return { envelopes, refused: undefined };
  } catch (error) {
    if (error instanceof CollectorRefusal) return { envelopes, refused: error.event };
    throw error;
  }
}

const event = fc.oneof(
  fc.string({ unit: "grapheme" }).filter((text) => text.trim() !== ""),
  fc.object(),
  fc.array(fc.jsonValue()),
  fc.integer(),
);
const space = fc.constantFrom("", " ", "\n", "\r\n\t");

test("objects in any arrangement are what they are one by one", () => {
  fc.assert(
    fc.property(
      fc.array(event, { minLength: 1, maxLength: 6 }),
      space,
      fc.boolean(),
      fc.boolean(),
      (events, gap, list, indented) => {
        const texts = events.map((one) =>
          JSON.stringify({ time: 1, event: one }, undefined, indented ? 2 : 0),
        );
        const body = list
          ? `${gap}[${texts.join(`${gap},${gap}`)}]${gap}`
          : texts.map((text) => gap + text).join("");
        const { envelopes, refused } = read(body);
        expect(refused).toBeUndefined();
        expect(
          envelopes.map(({ event: found }) =>
            found?.kind === "text" ? found.text : JSON.parse(found?.text ?? ""),
          ),
        ).toEqual(events.map((one) => JSON.parse(JSON.stringify(one))));
      },
    ),
  );
});

test("the columns of an event hold what a store would read in its JSON", () => {
  const columns = assignColumns(new FieldCatalog([], undefined, "raw"), [
    { name: "_time", type: "date", multi: false },
    { name: "status", type: "long", multi: false },
    { name: "took", type: "double", multi: true },
    { name: "ok", type: "boolean", multi: false },
    { name: "seen", type: "date", multi: false },
    { name: "user", type: "text", multi: false },
  ]);
  const catalog = new FieldCatalog(columns, "_time", "raw");
  const name = fc.constantFrom(
    "status",
    "took",
    "ok",
    "seen",
    "user",
    "new",
    "other.new",
    "host",
    "_raw",
    "a..b",
  );
  const value = fc.oneof(
    fc.constantFrom("5", "5.0", "1e3", "-0", "0x10", "true", "2026-01-31", "2026-01-31T09:00:00.123456Z", ""),
    fc.string({ unit: "grapheme" }),
  );
  const written = fc.record({
    raw: fc.string({ unit: "grapheme" }),
    timeMicros: fc.integer({ min: Date.parse("-000100-01-01") * 1000, max: Date.parse("9999-12-31") * 1000 }),
    host: value,
    source: value,
    sourcetype: value,
    index: fc.constant("main"),
    fields: fc.array(fc.tuple(name, fc.array(value, { maxLength: 3 }))),
  });
  const shapes = new Shapes();
  fc.assert(
    fc.property(fc.array(written, { maxLength: 5 }), (events) => {
      const documents = new EventDocuments(catalog, shapes, Date.now());
      for (const one of events) {
        const { source, fitted } = documents.toDocument(one);
        const isBeforeYear0 = one.timeMicros < Date.parse("0000-01-01") * 1000;
        expect(fitted === undefined).toBe(isBeforeYear0);
        if (!fitted) continue;
        const texts = new Set(fitted.fields.filter(({ type }) => type === "text").map(({ name }) => name));
        // With the first value that a column cannot hold it becomes text.
        const taken = columns.map((column) =>
          texts.has(column.name) ? { ...column, type: "text" as const } : column,
        );
        const store = new DocumentFitter(new FieldCatalog(taken, "_time", "raw"), "free");
        expect(fitted).toEqual(store.fit({ source, index: "main" }));
      }
    }),
  );
});

test("a body that is cut off keeps the events before the cut, and names the one that is cut", () => {
  const texts = ["a", { b: [1, { c: "}" }] }, 'd"{'].map((one) => JSON.stringify({ event: one }));
  const body = texts.join("");
  for (let end = 1; end < body.length; end++) {
    let whole = 0;
    for (let at = 0; whole < texts.length && at + (texts[whole]?.length ?? 0) <= end; whole++)
      at += texts[whole]?.length ?? 0;
    const { envelopes, refused } = read(body.slice(0, end));
    expect(envelopes).toHaveLength(whole);
    const isCut = texts.slice(0, whole).join("").length < end;
    expect(refused).toBe(isCut ? whole : undefined);
  }
});

test("any text is read or refused, and so is one that is deep or long, in bounded time", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void read(text)));
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\ est0') }), (text) => void read(text)),
  );
  const before = process.cpuUsage();
  expect(read(`{"event":${"[".repeat(500_000)}`).refused).toBe(0);
  expect(read(`{"event":${'{"a":'.repeat(200_000)}`).refused).toBe(0);
  expect(read(`{"event":"${"\\\\".repeat(500_000)}`).refused).toBe(0);
  expect(read(" ".repeat(1_000_000)).envelopes).toEqual([]);
  expect(findPairs("=".repeat(1_000_000))).toEqual([]);
  expect(findPairs(`${"a".repeat(500_000)}=${'"'.repeat(500_000)}`)).toEqual([]);
  expect(findPairs("a=1 ".repeat(250_000))).toEqual([["a", ["1"]]]);
  expect(processorMsSince(before)).toBeLessThan(20_000);
});

test("of a text with many pairs the first hundred are fields", () => {
  const text = Array.from({ length: 300 }, (_, n) => `key${n}=${n}`).join(" ");
  expect(findPairs(text)).toHaveLength(100);
});
