import { describe, expect, test } from "vitest";
import { SplError } from "../../spl/spl-error.ts";
import type { SearchExpression } from "../../spl/syntax/ast.ts";
import { parseSearchExpression } from "../../spl/syntax/parse-text.ts";

/** As a text with all its parentheses. */
function shown(expression: SearchExpression): string {
  switch (expression.node) {
    case "all":
      return "()";
    case "and":
    case "or":
      return `(${expression.operands.map(shown).join(` ${expression.node} `)})`;
    case "not":
      return `not ${shown(expression.operand)}`;
    case "term":
      return wrapped(expression.mode, expression.value.text);
    case "comparison":
      return `${expression.field}${expression.comparator}${wrapped(expression.mode, expression.value.text)}`;
    case "in":
      return `${expression.field} in ${expression.values.map(({ text }) => text).join("|")}`;
    case "time":
      return `@${expression.modifier}=${expression.value}`;
    case "subsearch":
      return `${expression.prefix}[${expression.subsearch.pipeline.text}]`;
  }
}
const wrapped = (mode: string, text: string) => (mode === "plain" ? `<${text}>` : `${mode}<${text}>`);
const pipeline = (text: string) => ({ commands: [], text: text.trim() });
const read = (text: string): string => shown(parseSearchExpression(text, pipeline));
const refusal = (text: string): string => {
  try {
    parseSearchExpression(text, pipeline);
  } catch (error) {
    if (error instanceof SplError) return error.message;
    throw error;
  }
  throw new Error(`this was read: ${text}`);
};

describe("search expressions", () => {
  test("rule 1: terms are joined by AND; AND, OR and NOT are written in capitals", () => {
    expect(read("web error")).toBe("(<web> and <error>)");
    expect(read("web AND error")).toBe("(<web> and <error>)");
    expect(read("web and error or not")).toBe("(<web> and <and> and <error> and <or> and <not>)");
    expect(read('"AND" x')).toBe("(<AND> and <x>)");
    expect(read("")).toBe("()");
  });

  test("rule 2: OR goes before AND, NOT before both", () => {
    expect(read("a b OR c")).toBe("(<a> and (<b> or <c>))");
    expect(read("NOT a OR b c")).toBe("((not <a> or <b>) and <c>)");
    expect(read("NOT (a OR b) NOT NOT c")).toBe("(not (<a> or <b>) and not not <c>)");
  });

  test("rule 3: IN has a list of values", () => {
    expect(read('status IN (4*, "5 0 0",503) x')).toBe("(status in 4*|5 0 0|503 and <x>)");
    expect(read("status in (1) NOT status IN (2)")).toBe("(status in 1 and not status in 2)");
    expect(read("status NOT IN (1, 2)")).toBe("not status in 1|2");
    expect(read("in (a)")).toBe("(<in> and <a>)");
  });

  test("rule 7: TERM and CASE stand around what they are of, after a comparator too", () => {
    expect(read("TERM(10.0.0.1) CASE(Error) host=CASE(A) TERM(a=b)")).toBe(
      "(term<10.0.0.1> and case<Error> and host=case<A> and term<a=b>)",
    );
    expect(read("term (x)")).toBe("(<term> and <x>)");
  });

  test("rule 9: a comparison is of a field with a text", () => {
    expect(read('a=b c = "d e" "f g"!=h i>=1 j<2 k==3')).toBe(
      "(a=<b> and c=<d e> and f g!=<h> and i>=<1> and j<<2> and k=<3>)",
    );
    expect(read("url=http://x/?q=1&r=a,b host::web1")).toBe("(url=<http://x/?q=1&r=a,b> and host=<web1>)");
    expect(read("sourcetype=(a OR b*)")).toBe("(sourcetype=<a> or sourcetype=<b*>)");
  });

  test("rule 12: a subsearch stands for a clause or for a value", () => {
    expect(read("a [ search x | fields y ] OR b")).toBe("(<a> and ([search x | fields y] or <b>))");
    expect(read("earliest=[search x] c")).toBe("(earliest=[search x] and <c>)");
  });

  test("rule 13: time modifiers are no comparisons with fields", () => {
    expect(read("earliest=-1h@h latest=now _index_earliest=-1d error")).toBe(
      "(@earliest=-1h@h and @latest=now and @_index_earliest=-1d and <error>)",
    );
  });

  test("rule 14: quotes and backslashes are undone in quoted texts, other backslashes stay", () => {
    expect(read(String.raw`path="C:\\Windows\\*" say="\"x\"" re="\d+"`)).toBe(
      String.raw`(path=<C:\Windows\*> and say=<"x"> and re=<\d+>)`,
    );
    expect(read(String.raw`a\"b user=x\ y`)).toBe(String.raw`(<a"b> and user=<x\ y>)`);
  });

  test("what does not parse is refused as splunkd does", () => {
    const words = "Error in 'search' command: Unable to parse the search:";
    expect(refusal("(a OR b")).toBe(`${words} unbalanced parentheses.`);
    expect(refusal("a) b")).toBe(`${words} unbalanced parentheses.`);
    expect(refusal("=x")).toBe(`${words} Comparator '=' is missing a term on the left hand side.`);
    expect(refusal("x=")).toBe(`${words} Comparator '=' is missing a term on the right hand side.`);
    expect(refusal("AND x")).toBe(`${words} 'AND' operator is missing a clause on the left hand side.`);
    expect(refusal("x OR")).toBe(`${words} 'OR' operator is missing a clause on the right hand side.`);
    expect(refusal("x IN ()")).toContain("Right hand side of IN must be a collection of literals.");
    expect(refusal("x IN (a OR [search b])")).toContain(
      "Right hand side of IN must be a collection of literals.",
    );
  });
});
