import { describe, expect, test } from "vitest";
import { SplError } from "../../spl/spl-error.ts";
import { readAggregates, readBy } from "../../spl/syntax/aggregates.ts";
import type { ArgumentReader } from "../../spl/syntax/argument-reader.ts";
import { boolean, count, number, oneOf, text } from "../../spl/syntax/option-types.ts";
import { createArgumentReader } from "../../spl/syntax/text-argument-reader.ts";

const readerOf = (args: string, command = "stats"): ArgumentReader =>
  createArgumentReader({
    command,
    text: `${command} ${args} | next`,
    span: { start: command.length + 1, end: command.length + 1 + args.length },
    nested: ({ start, end }) => ({ commands: [], text: `${start}-${end}` }),
  });
const refusal = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    if (error instanceof SplError) return error.message;
    throw error;
  }
  throw new Error("this was read");
};

describe("arguments of commands", () => {
  test("words are as long as they can be, and end where the command ends", () => {
    const reader = readerOf('a.b{} -x span=1h "c \\"d\\"" f!=g <= [h]');
    const tokens: string[] = [];
    while (!reader.atEnd()) {
      const { type, text: shown } = reader.peek();
      tokens.push(`${type} ${shown}`);
      if (reader.subsearch() === undefined) reader.next();
    }
    expect(tokens).toEqual([
      ...["word a.b{}", "word -x", "word span", "symbol =", "word 1h", 'string c "d"', "word f"],
      ...["symbol !=", "word g", "symbol <=", "symbol ["],
    ]);
  });

  test("rule 14: names of fields can be in quotes, and have the parentheses of an aggregate", () => {
    const fields = readerOf(`a, "b c" 'd e' avg(f) count(eval(g=1)) h."i j" by k`).fields(["by"]);
    expect(fields).toEqual(["a", "b c", "d e", "avg(f)", "count(eval(g=1))", "h.i j"]);
    expect(readerOf('"a"."b" c:"d"."e f".g "h"i').fields()).toEqual(["a.b", "c:d.e f.g", "h", "i"]);
    expect(readerOf("a b limit=3").fields()).toEqual(["a", "b"]);
  });

  test("options are read whatever the case of their names, until something else comes", () => {
    const reader = readerOf('LIMIT=3 useother = f sep="," x=1');
    expect(reader.options({ limit: count, useother: boolean, sep: text })).toEqual({
      limit: 3,
      useother: false,
      sep: ",",
    });
    expect(reader.rest()).toBe("x=1");
    expect(readerOf("delim=, a").options({ delim: text })).toEqual({ delim: "," });
    expect(readerOf("a=.5 b=RIGHT").options({ a: number, b: oneOf("left", "right") })).toEqual({
      a: 0.5,
      b: "right",
    });
  });

  test("what is no value of its option is refused with what was expected", () => {
    const words = "Error in 'SearchProcessor': Invalid option value.";
    expect(refusal(() => readerOf("a=maybe").options({ a: boolean }))).toBe(
      `${words} Expecting a 'boolean' for option 'a'. Instead got 'maybe'.`,
    );
    expect(refusal(() => readerOf("a=-1").options({ a: count }))).toContain("Instead got '-1'.");
    // Of the words that mean yes and no, `y` and `n` are none.
    for (const word of ["y", "n", "on"]) {
      expect(refusal(() => readerOf(`a=${word}`).options({ a: boolean }))).toContain(`got '${word}'.`);
    }
    expect(refusal(() => readerOf("a=1 a=2").options({ a: count }))).toBe(
      "Error in 'SearchProcessor': Option 'a' should not be specified more than once.",
    );
    expect(refusal(() => readerOf("a=").options({ a: boolean }))).toBe(
      `${words} Expecting a 'boolean' for option 'a'. Instead got ''.`,
    );
    expect(refusal(() => readerOf("a=").options({ a: text }))).toBe(
      "Error in 'stats' command: Missing a value for option 'a'.",
    );
  });

  test("what is left over is refused", () => {
    expect(refusal(() => readerOf("a b=c").end())).toBe(
      "Error in 'stats' command: The argument 'a' is invalid.",
    );
  });

  test("a search expression ends at a stop word, unless that is compared, quoted or in parentheses", () => {
    const reader = readerOf('a=1 (by OR x) by=2 "by" NOT by BY b, c', "tstats");
    expect(reader.searchExpression(["by"])).toMatchObject({ node: "and", operands: { length: 5 } });
    expect(readBy(reader)).toEqual(["b", "c"]);
    expect(readerOf("by a").searchExpression(["by"])).toEqual({ node: "all" });
  });

  test("brackets and parentheses can be had as they were written", () => {
    const reader = readerOf('[ eval <<FIELD>>="]" ] (a "(" b)');
    expect(reader.bracketed()).toBe('eval <<FIELD>>="]"');
    expect(reader.parenthesized()).toBe('a "(" b');
    expect(reader.bracketed()).toBeUndefined();
  });
});

describe("aggregates", () => {
  const read = (args: string) => readAggregates(readerOf(args));

  test("rule 34: a count needs no field, and eval stands for one", () => {
    expect(read("count, C(user) dc(eval(a.b)) count()")).toMatchObject([
      { name: "count", argument: { kind: "none" }, as: undefined, text: "count" },
      { name: "c", argument: { kind: "field", name: "user" }, text: "C(user)" },
      { name: "dc", argument: { kind: "expression", text: "a.b" }, text: "dc(eval(a.b))" },
      { name: "count", argument: { kind: "none" }, text: "count()" },
    ]);
  });

  test("rule 36: AS names the result, in quotes or not", () => {
    expect(read('sum(bytes) AS "all bytes" avg(x)as y')).toMatchObject([
      { name: "sum", as: "all bytes" },
      { name: "avg", as: "y" },
    ]);
  });

  test("rule 42: names can have wildcards, dots and quotes", () => {
    expect(read('sum(*_b) as *_t values(Processes.dest) max("a b") p95(c{}.d)')).toMatchObject([
      { argument: { name: "*_b" }, as: "*_t" },
      { argument: { name: "Processes.dest" } },
      { argument: { name: "a b" } },
      { name: "p95", argument: { name: "c{}.d" } },
    ]);
  });

  test("rule 43: a sparkline is of an aggregate", () => {
    expect(read("sparkline sparkline(count) sparkline(avg(x), 1h) as s")).toMatchObject([
      { name: "sparkline", argument: { kind: "none" } },
      { argument: { kind: "sparkline", aggregate: { name: "count" }, span: undefined } },
      { argument: { kind: "sparkline", aggregate: { name: "avg" }, span: "1h" }, as: "s" },
    ]);
  });

  test("BY ends them, and is followed by fields", () => {
    const reader = readerOf("count BY a, b");
    expect(readAggregates(reader)).toHaveLength(1);
    expect(readBy(reader)).toEqual(["a", "b"]);
    expect(refusal(() => readBy(readerOf("by")))).toContain(
      "You must specify at least one field after 'by'.",
    );
  });

  test("what is no aggregate is refused", () => {
    expect(refusal(() => read("sum(a b)"))).toBe("Error in 'stats' command: The argument 'b' is invalid.");
    expect(refusal(() => read("1x"))).toBe("Error in 'stats' command: The argument '1x' is invalid.");
    expect(refusal(() => read("sum(a"))).toBe(
      "Error in 'stats' command: Mismatched quotes and/or parenthesis.",
    );
  });
});
