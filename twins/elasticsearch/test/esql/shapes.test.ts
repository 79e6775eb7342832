/** Commands that change columns, and errors of invalid queries. */

import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UnrecognisedEsql } from "../../esql/errors.ts";
import { ask, refusal, rows, storeOf } from "./events.ts";

let store: LogStore;
beforeAll(async () => {
  store = await storeOf([
    { aa: 1, ab: 2, b: 3, line: "GET /x 200", many: [3, 1, 2] },
    { aa: 4, ab: 5, b: 6, line: "broken" },
  ]);
});
afterAll(() => store.close());

async function names(commands: string): Promise<string[]> {
  return (await ask(store, `FROM logs | DROP line*, many | ${commands}`)).columns.map(({ name }) => name);
}

describe("columns", () => {
  it("stand as KEEP names them; a full name wins over a pattern, a pattern over a lone star", async () => {
    expect(await names("KEEP b, a*")).toEqual(["b", "aa", "ab"]);
    expect(await names("KEEP a*, aa")).toEqual(["ab", "aa"]);
    expect(await names("KEEP *, aa")).toEqual(["ab", "b", "aa"]);
    expect(await names("KEEP aa, *")).toEqual(["aa", "ab", "b"]);
    expect(await names("KEEP *b")).toEqual(["ab", "b"]);
  });

  it("go with DROP, and are renamed one after another", async () => {
    expect(await names("DROP a*")).toEqual(["b"]);
    expect(await names("RENAME aa AS x, x AS y")).toEqual(["y", "ab", "b"]);
    expect(await names("EVAL aa = 9")).toEqual(["ab", "b", "aa"]);
  });

  it("come from pieces of a text; none where it does not fit", async () => {
    expect(
      await rows(
        store,
        'FROM logs | DISSECT line "%{verb} %{path} %{code}" | KEEP verb, path, code | LIMIT 5',
      ),
    ).toEqual([
      ["GET", "/x", "200"],
      [null, null, null],
    ]);
    expect(
      await rows(
        store,
        'FROM logs | GROK line "%{WORD:verb} %{URIPATH:path} %{INT:code:int}" | KEEP verb, path, code | LIMIT 5',
      ),
    ).toEqual([
      ["GET", "/x", 200],
      [null, null, null],
    ]);
    expect(
      await rows(
        store,
        'ROW t = "1,2, 3" | DISSECT t "%{+x},%{?skip}, %{+x}" APPEND_SEPARATOR="-" | KEEP x | LIMIT 1',
      ),
    ).toEqual([["1-3"]]);
    expect(
      await rows(store, 'ROW t = "b a" | DISSECT t "%{+x/2} %{+x/1}" APPEND_SEPARATOR="" | KEEP x | LIMIT 1'),
    ).toEqual([["ab"]]);
    expect(await rows(store, 'ROW t = "a b" | GROK t "%{WORD:w} %{WORD:w}" | KEEP w | LIMIT 1')).toEqual([
      [["a", "b"]],
    ]);
  });

  it("give a row for each of their values with MV_EXPAND, numbers in their order", async () => {
    expect(await rows(store, "FROM logs | MV_EXPAND many | KEEP aa, many | LIMIT 9")).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [4, null],
    ]);
  });

  it("of SHOW INFO say which version it is", async () => {
    expect((await rows(store, "SHOW INFO | LIMIT 1"))[0]?.[0]).toBe("8.15.0");
  });
});

describe("a query that is wrong", () => {
  it.each([
    [
      "",
      "line 1:1: mismatched input '<EOF>' expecting {'explain', 'from', 'meta', 'metrics', 'row', 'show'}",
    ],
    [
      "FORM logs",
      "line 1:1: mismatched input 'FORM' expecting {'explain', 'from', 'meta', 'metrics', 'row', 'show'}",
    ],
    ["FROM logs WHERE", "line 1:11: mismatched input 'WHERE' expecting {<EOF>, '|', ',', 'metadata'}"],
    ["FROM logs\n| LIMIT x", "line 2:9: mismatched input 'x' expecting INTEGER_LITERAL"],
    ["FROM logs | WHERE aa ~ 1", "line 1:22: token recognition error at: '~'"],
    ["FROM logs | KEEP nosuch", "Found 1 problem\nline 1:18: Unknown column [nosuch]"],
    ["FROM logs | KEEP lime", "Found 1 problem\nline 1:18: Unknown column [lime], did you mean [line]?"],
    ["FROM logs | KEEP zz*", "Found 1 problem\nline 1:18: No matches found for pattern [zz*]"],
    [
      "FROM logs | EVAL x = nope + 1, y = no2",
      "Found 2 problems\nline 1:22: Unknown column [nope]\nline 1:36: Unknown column [no2]",
    ],
    [
      "FROM logs | WHERE line == 1",
      "Found 1 problem\nline 1:19: first argument of [line == 1] is [text] so second argument must also be [text] but was [integer]",
    ],
    [
      "FROM logs | WHERE aa",
      "Found 1 problem\nline 1:19: Condition expression needs to be boolean, found [LONG]",
    ],
    [
      "FROM logs | STATS aa",
      "Found 1 problem\nline 1:19: column [aa] must appear in the STATS BY clause or be used in an aggregate function",
    ],
    [
      "FROM logs | STATS MAX(aa) + b",
      "Found 1 problem\nline 1:29: column [b] must appear in the STATS BY clause or be used in an aggregate function",
    ],
    [
      "FROM logs | STATS MAX(MIN(aa))",
      "Found 1 problem\nline 1:23: nested aggregations [MIN(aa)] not allowed inside other aggregations [MAX(MIN(aa))]",
    ],
    [
      "FROM logs | EVAL x = line + 1",
      "Found 1 problem\nline 1:22: first argument of [line + 1] must be [datetime or numeric], found value [line] type [text]",
    ],
    [
      'ROW a = NOW() > "soon"',
      "Found 1 problem\nline 1:17: Cannot convert string [soon] to [DATETIME], error [failed to parse date field [soon] with format [strict_date_optional_time]]",
    ],
    ["ROW a = ?", "line 1:10: Not enough actual parameters 0"],
    ["ROW a = 1 fortnight", "line 1:10: Unexpected time interval qualifier: 'fortnight'"],
  ])("%j", async (query, message) => {
    expect(await refusal(store, query)).toBe(message);
  });

  it.each([
    "FROM logs | ENRICH p ON aa",
    "FROM logs | LOOKUP t ON aa",
    "META functions",
    'ROW p = TO_GEOPOINT("POINT(1 1)")',
    "FROM logs | INLINESTATS MAX(aa)",
  ])("that is of the grammar and not served is for the translator: %s", async (query) => {
    await expect(ask(store, query)).rejects.toBeInstanceOf(UnrecognisedEsql);
  });
});

describe("a query that is read leniently", () => {
  it("does not mind case, comments or white space", async () => {
    expect(await rows(store, "from logs // all\n| /* some */ wHeRe aa > 1\n\t| keep `aa` | limit 1")).toEqual(
      [[4]],
    );
  });

  it("binds operators as the vendor does", async () => {
    const value = async (expression: string) =>
      (await rows(store, `ROW v = ${expression} | LIMIT 1`))[0]?.[0];
    expect(await value("1 + 2 * 3")).toBe(7);
    expect(await value("-2 * 3 + 1")).toBe(-5);
    expect(await value("10 - 2 - 3")).toBe(5);
    expect(await value("NOT false AND false")).toBe(false);
    expect(await value("true OR false AND false")).toBe(true);
    expect(await value('1 + "2"::integer')).toBe(3);
    expect(await value("7 / 2")).toBe(3);
    expect(await value("-7 / 2")).toBe(-3);
    expect(await value("-7 % 3")).toBe(-1);
    expect(await value("7 / 2.0")).toBe(3.5);
    expect(await value("2147483647 + 1")).toBe(null);
    expect(await value("2147483648 + 1")).toBe(2147483649);
    expect(await value("null == 1 OR true")).toBe(true);
    expect(await value("null == 1 AND true")).toBe(null);
    expect(await value('"abc" RLIKE "a.*|x"')).toBe(true);
    expect(await value('"a%c" LIKE "a%?"')).toBe(true);
    expect(await value('"abc" NOT LIKE "b*"')).toBe(true);
    expect(await value("3 IN (1, null)")).toBe(null);
  });
});
