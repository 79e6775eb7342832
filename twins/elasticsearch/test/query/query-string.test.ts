import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseQueryString } from "../../query/query-string/parser.ts";
import { compile, errorOf, idsOf, storeOf } from "./support.ts";

/** Clauses as Lucene prints them: `+a -b c`. */
function printed(text: string, operator: "or" | "and" = "or"): string {
  const print = (clauses: readonly ReturnType<typeof parseQueryString>[number][]): string =>
    clauses
      .map(({ occur, expression }) => {
        const sign = occur === "must" ? "+" : occur === "must_not" ? "-" : "";
        const field = expression.field === undefined ? "" : `${expression.field}:`;
        const boost = expression.boost === 1 ? "" : `^${expression.boost}`;
        return `${sign}${body(expression, field)}${boost}`;
      })
      .join(" ");
  const body = (
    expression: ReturnType<typeof parseQueryString>[number]["expression"],
    field: string,
  ): string => {
    switch (expression.kind) {
      case "group":
        return `(${print(expression.clauses)})`;
      case "text":
        return `${field}${expression.several ? `<${expression.text}>` : expression.text}`;
      case "phrase":
        return `${field}"${expression.text}"${expression.slop === undefined ? "" : `~${expression.slop}`}`;
      case "wildcard":
        return `${field}${expression.pattern}`;
      case "prefix":
        return `${field}${expression.prefix}*`;
      case "regexp":
        return `${field}/${expression.pattern}/`;
      case "fuzzy":
        return `${field}${expression.text}~${expression.fuzziness ?? ""}`;
      case "range": {
        const { lower, upper, includeLower, includeUpper } = expression.range;
        return `${field}${includeLower ? "[" : "{"}${lower} TO ${upper}${includeUpper ? "]" : "}"}`;
      }
    }
  };
  return print(parseQueryString(text, { defaultOperator: operator }));
}

describe("the classic syntax", () => {
  const read: [text: string, clauses: string][] = [
    ["a AND b", "+a +b"],
    ["a OR b AND c", "a +b +c"],
    ["a AND b OR c", "+a +b c"],
    ["a && !b || c", "+a -b c"],
    ["NOT a AND b", "-a +b"],
    ["+a -b c", "+a -b c"],
    ["a b c", "<a b c>"],
    ["a b AND c", "a +b +c"],
    ["a b:c", "a b:c"],
    ["x:(a b)^2 OR d", "(x:<a b>)^2 d"],
    ["x:(a y:b)", "(x:a y:b)"],
    ['x:"a b"~2^3', 'x:"a b"~2^3'],
    ["a~ b~1 c~AUTO", "a~ b~1 c~AUTO"],
    ["a* b?c *", "a* b?c *"],
    ["/jo.n(ath[oa]n)/", "/jo.n(ath[oa]n)/"],
    ["/a\\/b/", "/a\\/b/"],
    ["age:[1 TO 5} AND [* TO 10]", "+age:[1 TO 5} +[* TO 10]"],
    ['t:{"2026-01-01 00:00" TO now-1d/d]', "t:{2026-01-01 00:00 TO now-1d/d]"],
    ["a\\:b\\ c", "a:b c"],
    ["\\u0041", "A"],
    ["book.\\*:x", "book.*:x"],
    ["*:*", "*:*"],
    ["ANDROID ORDER", "<ANDROID ORDER>"],
    ["2026-01-01T00\\:00", "2026-01-01T00:00"],
    ["a - b", "a - b"],
    ["a^2.5", "a^2.5"],
  ];
  test.each(read)("%s", (text, clauses) => {
    expect(printed(text)).toBe(clauses);
  });

  test("with AND as its default, OR makes its neighbours optional", () => {
    expect(printed("a:1 b:2 OR c:3", "and")).toBe("+a:1 b:2 c:3");
    expect(printed("a:1 -b:2", "and")).toBe("+a:1 -b:2");
  });
});

describe("query_string", () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await storeOf([
      {
        level: "error",
        message: "payment gateway timeout",
        status: 504,
        "@timestamp": "2026-03-01T10:00:00Z",
      },
      { level: "info", message: "payment accepted", status: 200, "@timestamp": "2026-02-28T10:00:00Z" },
      { level: "error", message: "database timeout, gateway fine", status: 500, user: { name: "ann" } },
      { level: "debug", message: "nothing here", ok: true },
    ]);
  });
  afterAll(() => store.close());
  const qs = (query: string, options: object = {}) => ({ query_string: { query, ...options } });

  const matches: [text: string, ids: string, options?: object][] = [
    ["timeout", "0 2"],
    ["level:error", "0 2"],
    ["level:error AND message:payment", "0"],
    ["level:error -payment", "2"],
    ["payment timeout", "0", { default_operator: "AND" }],
    ["payment timeout", "0 1 2"],
    ['"gateway timeout"', "0"],
    ['"timeout gateway"~2', "0 2"],
    ["status:[500 TO 504}", "2"],
    ["status:>=500", "0 2"],
    ["status:<500", "1"],
    ["status:500 OR status:200", "1 2"],
    ["status:(500 504)", "0 2"],
    ["_exists_:user.name", "2"],
    ["user.name:*", "2"],
    ["user.\\*:ann", "2"],
    ["NOT _exists_:status", "3"],
    ["message:pay*", "0 1"],
    ["message:PAY*", "0 1"],
    ["message:g?teway", "0 2"],
    ["message:/time.{3}/", "0 2"],
    ["timeuot~", "0 2"],
    ["message:databse~1", "2"],
    ["*:*", "0 1 2 3"],
    ["*", "0 1 2 3"],
    ["", ""],
    ["ok:true", "3"],
    ["nope:x", ""],
    ["@timestamp:[2026-03-01 TO *]", "0"],
    ["@timestamp:2026-02-28", "1"],
    ["payment", "", { fields: ["level"] }],
    ["payment error", "0 1 2", { fields: ["level", "message^2"] }],
    ["payment gateway accepted", "0 1", { default_field: "message", minimum_should_match: 2 }],
    ["(timeout OR accepted) AND level:info", "1"],
    ["payment (timeout)", "0", { escape: true, default_operator: "and" }],
  ];
  test.each(matches)("%s → %s", async (text, ids, options) => {
    expect((await idsOf(store, qs(text, options))).join(" ")).toBe(ids);
  });

  test("date math in a range moves with the clock in vendor, and matches nothing in specification", async () => {
    expect(await idsOf(store, qs("@timestamp:[now-1d TO now]"), "vendor")).toEqual(["0"]);
    expect(await idsOf(store, qs("@timestamp:[now-1d TO now]"))).toEqual([]);
  });

  test("a syntax error is the vendor's", () => {
    for (const text of ["(a", "a)", '"a', "[1 TO", "a:", "AND", "a AND", "a^x", "x:[1 2 3]", "/a"]) {
      const error = errorOf(() => compile(store, qs(text)));
      expect(error.rootCause).toMatchObject({
        type: "query_shard_exception",
        reason: `Failed to parse query [${text}]`,
      });
    }
  });
});
