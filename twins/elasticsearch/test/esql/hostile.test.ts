/**
 * Any input ends in a vendor error within bounded time.
 * Proves a part of twins/SECURITY.md.
 */

import type { LogStore } from "@offhook/log-store/store/log-store";
import { processorMsOf } from "@offhook/platform/testing/processor-time";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Params } from "../../esql/params.ts";
import { parse } from "../../esql/parser.ts";
import { VendorError } from "../../vendor/error.ts";
import { ask, refusal, storeOf } from "./events.ts";

/** CPU time: far above the half second of a megabyte, far below an unbounded parser's. */
const MAX_MS = 10_000;

function parsed(query: string): "parsed" | "refused" {
  try {
    parse(query, new Params([]));
    return "parsed";
  } catch (error) {
    if (error instanceof VendorError && error.status === 400) return "refused";
    throw error;
  }
}

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([{ a: 1, b: "x", c: 1.5 }]);
});
afterAll(() => store.close());

describe("a parser", () => {
  it("refuses any characters, or reads them, and never breaks", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => parsed(text) !== undefined),
      { numRuns: 500 },
    );
  });

  it("refuses any order of its own tokens, or reads it, and never breaks", () => {
    const words =
      'FROM|ROW|WHERE|EVAL|STATS|BY|SORT|LIMIT|KEEP|DROP|RENAME|AS|DISSECT|GROK|MV_EXPAND|and|or|not|in|like|is|null|true|a|b|`c d`|1|2.5|"x"|"""y"""|(|)|[|]|,|.|=|==|<|+|-|*|/|%|::|?|1 day|| |//c\n|/*c*/'.split(
        "|",
      );
    const token = fc.constantFrom(...words, "|");
    fc.assert(
      fc.property(
        fc.array(token, { maxLength: 40 }),
        (tokens) => parsed(`FROM logs | ${tokens.join(" ")}`) !== undefined,
      ),
      { numRuns: 1000 },
    );
  });

  it.each([
    ["parentheses", `ROW a = ${"(".repeat(100_000)}1`],
    ["signs", `ROW a = ${"-".repeat(100_000)}1`],
    ["NOTs", `ROW a = ${"NOT ".repeat(50_000)}true`],
    ["calls", `ROW a = ${"abs(".repeat(50_000)}1`],
    ["sums", `ROW a = ${"1+".repeat(200_000)}1`],
    ["casts", `ROW a = 1${"::int".repeat(50_000)}`],
    ["commands", `FROM logs${" | LIMIT 1".repeat(10_000)}`],
    ["an open comment", `ROW a = 1 ${"/* ".repeat(100_000)}`],
    ["an open string", `ROW a = ${'"'.repeat(100_001)}`],
    ["spaces", `ROW a = ${" ".repeat(900_000)}`],
    ["slashes", `FROM ${"/".repeat(900_000)}`],
    ["more than the vendor reads", `ROW a = "${"x".repeat(1_000_000)}"`],
  ])("refuses too many %s in bounded time", (_, query) => {
    expect(processorMsOf(() => expect(parsed(query)).toBe("refused"))).toBeLessThan(MAX_MS);
  });

  it("reads a query of a megabyte in bounded time", () => {
    const query = `FROM logs | WHERE a IN (${"1, ".repeat(300_000)}1)`;
    expect(processorMsOf(() => expect(parsed(query)).toBe("parsed"))).toBeLessThan(MAX_MS);
  });
});

describe("a compiler", () => {
  it.each([
    ["sums", `ROW a = ${"1+".repeat(390)}1`],
    ["conditions", `FROM logs | WHERE ${"a == 1 AND ".repeat(390)}a == 1`],
    ["calls", `ROW a = ${"abs(".repeat(190)}1${")".repeat(190)}`],
    ["commands", `FROM logs${" | WHERE a == 1".repeat(400)}`],
    [
      "fields",
      `FROM logs | EVAL ${Array.from({ length: 300 }, (_, index) => `x${index} = a + ${index}`).join(", ")}`,
    ],
    ["values", `FROM logs | WHERE a IN (${Array.from({ length: 3000 }, (_, index) => index).join(", ")})`],
  ])("runs many %s", async (_, query) => {
    expect((await ask(store, query)).values).toHaveLength(1);
  });

  it("never makes SQL of a text", async () => {
    const text = `'; DROP TABLE documents; --`;
    expect((await ask(store, `ROW a = "${text}" | LIMIT 1`)).values).toEqual([[text]]);
    expect(await refusal(store, 'FROM logs | KEEP `x"; DROP TABLE documents; --`')).toContain(
      "Unknown column",
    );
    const { columns } = await ask(store, 'ROW `x" FROM documents` = 1 | LIMIT 1');
    expect(columns).toEqual([{ name: 'x" FROM documents', type: "integer" }]);
  });
});
