import { describe, expect, test } from "vitest";
import { SplError } from "../../spl/spl-error.ts";
import { evaluateMacro } from "../../spl/syntax/eval-macro.ts";
import type { Macro } from "../../spl/syntax/macros.ts";
import { expandMacros } from "../../spl/syntax/macros.ts";

const macros: Macro[] = [
  { name: "web", args: [], definition: "sourcetype=access OR sourcetype=error", isEval: false },
  { name: "by", args: ["field"], definition: "stats count by $field$", isEval: false },
  { name: "both", args: ["a", "b"], definition: '`by($a$)` | search $a$="$b$"', isEval: false },
  { name: "loop", args: [], definition: "x `loop`", isEval: false },
  { name: "twice", args: [], definition: "`web` `web`", isEval: false },
  { name: "index", args: ["name"], definition: '"index=".lower("$name$")', isEval: true },
  { name: "grow", args: ["n"], definition: "`grow(  $n$$n$ )`", isEval: false },
];
const find = (name: string, args: number) =>
  macros.find((macro) => macro.name === name && macro.args.length === args);
const expanded = (text: string): string => expandMacros(text, find, evaluateMacro);
const refusal = (text: string): string => {
  try {
    expanded(text);
  } catch (error) {
    if (error instanceof SplError) return error.message;
    throw error;
  }
  throw new Error(`this was expanded: ${text}`);
};

describe("macros and comments", () => {
  test("rule 15: a macro is its definition, with its arguments put in, before anything is parsed", () => {
    expect(expanded("search `web` | `by(host)`")).toBe(
      "search sourcetype=access OR sourcetype=error | stats count by host",
    );
    expect(expanded('`both(host, "a, b (c)")`')).toBe('stats count by host | search host="a, b (c)"');
    expect(expanded("`twice`")).toBe(
      "sourcetype=access OR sourcetype=error sourcetype=access OR sourcetype=error",
    );
  });

  test("arguments can be given by their names", () => {
    expect(expanded('`both(b = "x y", a=host)`')).toBe('stats count by host | search host="x y"');
    expect(expanded("`by(host=1)`")).toBe("stats count by host=1");
  });

  test("rule 15: a comment is nothing", () => {
    expect(expanded("search a ``` why | `x` ``` | head ```1\n2```2")).toBe("search a   | head  2");
  });

  test("neither is looked for within double quotes", () => {
    expect(expanded('search "`web`" "```x" "\\"`web`"')).toBe('search "`web`" "```x" "\\"`web`"');
  });

  test("an eval macro is what its expression gives", () => {
    expect(expanded("search `index(WEB)`")).toBe("search index=web");
  });

  test("what cannot be expanded is refused with the macro's name", () => {
    expect(refusal("`nothing`")).toBe(
      "Error in 'SearchParser': The search specifies a macro 'nothing' that cannot be found. Reasons include: the macro name is misspelled, you do not have \"read\" permission for the macro, or the macro has not been shared with this application. Click Settings, Advanced search, Search Macros to view macro information.",
    );
    expect(refusal("`by(a, b)`")).toContain("macro 'by(2)' that cannot be found");
    expect(refusal("`web")).toBe("Error in 'SearchParser': Missing a closing tick mark for macro expansion.");
    expect(refusal("search ``` x")).toContain("Missing comment closing tickmarks.");
  });

  test("a macro that never ends is refused, however fast it grows", () => {
    expect(refusal("`loop`")).toContain(
      "Reached maximum recursion depth (100) while expanding macros. Check for infinitely recursive macro definitions.",
    );
    expect(refusal("`grow(xxxxxxxx)`")).toMatch(
      /characters with its macros expanded|maximum recursion depth/,
    );
  });
});
