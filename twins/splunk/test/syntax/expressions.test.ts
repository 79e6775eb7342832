import { describe, expect, test } from "vitest";
import { SplError } from "../../spl/spl-error.ts";
import type { Expression } from "../../spl/syntax/ast.ts";
import { parseExpression } from "../../spl/syntax/parse-text.ts";

/** As a text with all its parentheses. */
function shown(expression: Expression): string {
  switch (expression.node) {
    case "number":
      return expression.text;
    case "string":
      return JSON.stringify(expression.value);
    case "field":
      return expression.name;
    case "call":
      return `${expression.name}(${expression.args.map(shown).join(", ")})`;
    case "unary":
      return `(${expression.operator} ${shown(expression.operand)})`;
    case "binary":
      return `(${shown(expression.left)} ${expression.operator} ${shown(expression.right)})`;
    case "in":
      return `(${shown(expression.operand)} in ${expression.values.map(shown).join(", ")})`;
    case "subsearch":
      return `[${expression.subsearch.pipeline.text}]`;
  }
}
const read = (text: string): string => shown(parseExpression(text, "where"));
const refusal = (text: string, command = "where"): string => {
  try {
    parseExpression(text, command);
  } catch (error) {
    if (error instanceof SplError) return error.message;
    throw error;
  }
  throw new Error(`this was read: ${text}`);
};

describe("eval expressions", () => {
  test("rule 2: NOT goes before AND, AND before OR, OR before XOR", () => {
    expect(read("a=1 OR b=2 AND NOT c=3 XOR d=4")).toBe(
      "(((a = 1) or ((b = 2) and (not (c = 3)))) xor (d = 4))",
    );
    expect(read("a=1 and (b=2 or c=3)")).toBe("((a = 1) and ((b = 2) or (c = 3)))");
  });

  test("an exclamation mark is NOT", () => {
    expect(read("a=1 AND !isnull(b) OR ! (c) AND d!=e")).toBe(
      "(((a = 1) and (not isnull(b))) or ((not c) and (d != e)))",
    );
  });

  test("rule 9: both sides of a comparison are expressions", () => {
    expect(read("a=b")).toBe("(a = b)");
    expect(read("a == b + 1")).toBe("(a = (b + 1))");
    expect(read('a!="x"')).toBe('(a != "x")');
    expect(read("a<=-1")).toBe("(a <= (- 1))");
  });

  test("rule 3: IN is an operator and a function", () => {
    expect(read('a IN ("x", 2, b)')).toBe('(a in "x", 2, b)');
    expect(read('a NOT IN ("x")')).toBe('(not (a in "x"))');
    expect(read('in(a, "x")')).toBe('in(a, "x")');
    expect(read('NOT a in(1) AND x="in"')).toBe('((not (a in 1)) and (x = "in"))');
  });

  test("rule 14: single quotes are around names, double quotes around texts", () => {
    expect(read(`'a b.c{}'="it's \\"x\\" \\\\ \\d"`)).toBe(`(a b.c{} = "it's \\"x\\" \\\\ \\\\d")`);
    expect(read("mvcount(a{})>1")).toBe("(mvcount(a{}) > 1)");
  });

  test("rule 18: null, true and false without parentheses are fields", () => {
    expect(read("x=null OR y=true()")).toBe("((x = null) or (y = true()))");
  });

  test("rule 21: a period between operands concatenates, within a number it is a decimal point", () => {
    expect(read('a." ".b')).toBe('((a . " ") . b)');
    expect(read("1.5 . .5")).toBe("(1.5 . .5)");
    expect(read("a.1.b")).toBe("((a . 1) . b)");
    expect(read("0x1F + 1e3")).toBe("(0x1F + 1e3)");
  });

  test("products go before sums, signs before both, and equals from the left", () => {
    expect(read("1-2-3*-4%5")).toBe("((1 - 2) - ((3 * (- 4)) % 5))");
    expect(read("-(a+b)/c")).toBe("((- (a + b)) / c)");
  });

  test("rule 32: LIKE is an operator and a function", () => {
    expect(read('a LIKE "x%" AND NOT like(b, "y")')).toBe('((a like "x%") and (not like(b, "y")))');
    expect(read('a NOT LIKE "x%"')).toBe('(not (a like "x%"))');
  });

  test("calls can have calls, conditions and nothing as arguments", () => {
    expect(read('if(a=1 AND isnull(b), case(c>1, "x", true(), "y"), now())')).toBe(
      'if(((a = 1) and isnull(b)), case((c > 1), "x", true(), "y"), now())',
    );
    expect(read("IF (a, B, c)")).toBe("if(a, B, c)");
  });

  test("words within names are no operators", () => {
    expect(read("order=android OR notx")).toBe("((order = android) or notx)");
  });

  test("what is malformed is refused in the command's name", () => {
    const where = "Error in 'where' command: The expression is malformed.";
    for (const comparison of ["a=", "if(a<,1,2)", "a LIKE"]) {
      expect(refusal(comparison)).toBe(`${where} A comparison term is missing.`);
    }
    expect(refusal("a=1 AND")).toBe(`${where} An 'AND' term is missing.`);
    expect(refusal("(a=1 or )")).toBe(`${where} An 'OR' term is missing.`);
    expect(refusal("a + ")).toBe(`${where} A term is missing.`);
    expect(refusal("a *")).toBe(`${where} The factor is missing.`);
    expect(refusal(")(")).toBe(`${where} An unexpected character is reached at ')('.`);
    expect(refusal("(a=1")).toBe(`${where} Expected ).`);
    expect(refusal("if(a")).toBe(`${where} Expected ).`);
    expect(refusal("a IN 1")).toBe(`${where} Expected (.`);
    expect(refusal("a=1 b=2")).toBe(`${where} An unexpected character is reached at 'b=2'.`);
    expect(refusal("4xx > 3")).toBe(`${where} An unexpected character is reached at 'xx > 3'.`);
    expect(refusal("a=#", "eval")).toBe(
      "Error in 'EvalCommand': The expression is malformed. An unexpected character is reached at '#'.",
    );
    expect(refusal("AND a")).toBe(`${where} The factor is missing.`);
  });

  test("hundreds of alternatives are read as a flat tree, and thousands of sums refused", () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `a=${index}`).join(" OR ");
    const depth = (node: Expression): number =>
      node.node === "binary" ? 1 + Math.max(depth(node.left), depth(node.right)) : 0;
    expect(depth(parseExpression(many, "where"))).toBeLessThan(20);
    expect(refusal(`${"1+".repeat(5_000)}1`)).toContain("nested too deeply");
  });
});
