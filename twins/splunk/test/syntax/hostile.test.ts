/**
 * Searches that are long, deep or no searches at all are answered in bounded time, and by nothing but a `SplError`.
 * Proves a part of twins/SECURITY.md.
 */

import { processorMsSince } from "@offhook/platform/testing/processor-time";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commands } from "../../spl/commands/registry.ts";
import { parseSearch } from "../../spl/parse-search.ts";
import { SplError } from "../../spl/spl-error.ts";
import { parseExpression, parseSearchExpression } from "../../spl/syntax/parse-text.ts";

const macro = (name: string, args: number) =>
  args > 2
    ? undefined
    : { name, args: ["a", "b"].slice(0, args), definition: "head $a$ | `x`", isEval: false };
const nested = (text: string) => parseSearch(text, { macro });
const readers: Record<string, (text: string) => unknown> = {
  search: (text) => parseSearch(text, { macro }),
  "search's expression": (text) => parseSearchExpression(text, nested),
  "eval's expression": (text) => parseExpression(text, "eval", nested),
};
/** Of processor time: far above what is needed, far below what a reader without bounds takes. */
const boundMs = 20_000;

function outcome(read: (text: string) => unknown, text: string): "read" | "refused" {
  try {
    read(text);
    return "read";
  } catch (error) {
    if (error instanceof SplError) return "refused";
    throw error;
  }
}

const pieces = fc.constantFrom(
  ..."[ ] ( ) \" ' ` ``` | , = != < > + - * / . :: \\ { } $a$ 0x1 1.5 1e9 AND OR NOT IN LIKE XOR head fields eval".split(
    " ",
  ),
  ...["search", "`m(", "é", "\u0000", "\n", " ", "a.b{}", "TERM(", "earliest=", "limit=", "\ud800"],
);

describe.each(Object.entries(readers))("hostile texts as a %s", (_, read) => {
  test("random pieces of searches", () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), fc.constantFrom("", " "), (list, between) => {
        outcome(read, list.join(between));
        outcome(read, `head ${list.join(between)}`);
      }),
      { numRuns: 1_500 },
    );
  });

  test("random bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        outcome(read, Buffer.from(bytes).toString("latin1"));
        outcome(read, Buffer.from(bytes).toString("utf8"));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    "[",
    "(",
    "head [",
    "NOT ",
    "-",
    "f(",
    "a=(",
    "a IN (",
    "x=[ head ",
    "not(",
    "`m(",
    "[ | ",
    "(",
  ])("%j ten thousand times is refused in bounded time", (piece) => {
    const before = process.cpuUsage();
    outcome(read, piece.repeat(10_000));
    outcome(read, `head ${piece.repeat(10_000)}`);
    expect(processorMsSince(before)).toBeLessThan(boundMs);
  });

  test.each(["(", "["])("closed %j ten thousand times is refused", (open) => {
    const close = open === "(" ? ")" : "]";
    expect(outcome(read, `head ${open.repeat(10_000)}1${close.repeat(10_000)}`)).toBe("refused");
  });

  test.each([
    "a ",
    "a=b ",
    "1+",
    "a OR ",
    "a, ",
    "!",
    "\\",
    "\\x",
    "a",
    "'",
    "head | ",
    '"x" ',
    ":",
    "`m` ",
    "$a$",
    "é",
    "a.",
    "{a}",
  ])("a megabyte of %j is answered in bounded time", (piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    const before = process.cpuUsage();
    outcome(read, text);
    outcome(read, `head ${text}`);
    expect(processorMsSince(before)).toBeLessThan(boundMs);
  });
});

const argumentPieces = fc.oneof(
  pieces,
  fc.constantFrom(
    ..."as by over from where with span=1h span bins=10 1 -1 10 0 t f count sum(x) avg( eval( x y* * - + -x".split(
      " ",
    ),
    ...[
      "output",
      "outputnew",
      "append=t",
      "type=outer",
      "datamodel=",
      "[search x]",
      '"s"',
      "limit=0",
      "x=1",
      "(x=1)",
    ],
    ...[
      "sma2(x)",
      "field=",
      "max_match=0",
      "mode=sed",
      '"(?<a>.)"',
      "sortby",
      "path=a",
      "startswith=",
      "<<FIELD>>",
    ],
  ),
);

describe("hostile arguments", () => {
  test.each(commands.map(({ name }) => name))("%s", (name) => {
    const before = process.cpuUsage();
    fc.assert(
      fc.property(fc.array(argumentPieces, { maxLength: 12 }), (list) => {
        outcome(nested, `| ${name} ${list.join(" ")}`);
      }),
      { numRuns: 300 },
    );
    for (const piece of ["x ", "x,", "x=1 ", "count(x) ", "x as y ", "( ", "-", '"x" ', "* "]) {
      outcome(nested, `| ${name} ${piece.repeat(20_000)}`);
    }
    expect(processorMsSince(before)).toBeLessThan(2 * boundMs);
  });
});
