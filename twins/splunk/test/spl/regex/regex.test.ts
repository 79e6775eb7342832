import { type Sql, sql } from "@offhook/log-store/sql";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore, ResultValue } from "@offhook/log-store/store/log-store";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InvalidPattern, type Pattern, readPattern } from "../../../spl/regex/pcre.ts";
import { extractAllSql, extractFirstSql, matchesSql, replaceSql } from "../../../spl/regex/regex-sql.ts";

let store: LogStore;
beforeAll(async () => {
  store = await openLogStore();
});
afterAll(() => store.close());

async function value(expression: Sql): Promise<ResultValue | undefined> {
  const { rows } = await store.query(sql`SELECT ${expression}`);
  return rows[0]?.[0];
}

const matches = (text: string, pattern: string) =>
  value(matchesSql(sql`CAST(${text} AS VARCHAR)`, readPattern(pattern)));

describe("regular expressions", () => {
  const cases: [pattern: string, matching: string[], others: string[], byRe2: boolean][] = [
    ["^a.c$", ["abc"], ["a\nc", "xabc"], true],
    ["(?i)abc", ["xABCx"], ["ab"], true],
    ["a(?i)b", ["aB"], ["AB"], true],
    ["a(?i:b)c", ["aBc"], ["aBC"], true],
    ["(?s)a.c", ["a\nc"], [], true],
    ["(?m)^b$", ["a\nb\nc"], ["ab"], true],
    ["(?x) a  b # comment\n c", ["abc"], ["a b c"], true],
    ["a(?#comment)b", ["ab"], [], true],
    ["[\\w-.]+@x", ["a-b.c@x"], ["!@x"], true],
    ["^[.-\\d]+$", [".-1"], ["a"], true],
    ["[]a]", ["]", "a"], ["b"], true],
    ["[^]a]", ["b"], ["]"], true],
    ["[[:alpha:]]+\\d", ["ab1"], ["12"], true],
    ["\\x41\\x{42}\\t", ["AB\t"], ["ab"], true],
    ["\\Qa.b\\E+", ["a.bb"], ["axb"], true],
    ["a{2,}b{1}{", ["aab{"], ["ab{"], true],
    ["\\ba\\/b\\_\\-\\b", [], ["x"], true],
    ["(?<n>a)(?P<m>b)(?'o'c)", ["abc"], ["ac"], true],
    ["x(?=y)", ["xy"], ["xz"], false],
    ["x(?!y)", ["xz", "x"], ["xy"], false],
    ["(?<=a)b", ["ab"], ["cb"], false],
    ["(?<!\\d)10\\.\\d+", ["a10.1"], ["110.1"], false],
    ["(a|b)\\1", ["aa"], ["ab"], false],
    ["(?<q>['\"]).*?\\k<q>", ["'x'"], ["'x\""], false],
    ["a++b", ["aab"], ["a"], false],
    ["a++ab", [], ["aab"], false],
    ["(?>a|ab)c", ["ac"], ["abc"], false],
    ["a{1,2000}b$", ["aab"], ["a"], false],
    ["(?:a|(b))c\\Z", ["ac", "bc\n"], ["acx"], true],
  ];

  test.each(cases)("%s", async (pattern, matching, others, byRe2) => {
    expect(readPattern(pattern).re2 !== undefined).toBe(byRe2);
    for (const text of matching) expect([text, await matches(text, pattern)]).toEqual([text, true]);
    for (const text of others) expect([text, await matches(text, pattern)]).toEqual([text, false]);
  });

  test.each(["(", "a)", "[a", "*a", "(?<n", "\\", "(?R)", "(?(1)a)", "\\Ka", "a\\2", "(?<=(?i)a)b"])(
    "%s is refused",
    (pattern) => {
      expect(() => readPattern(pattern)).toThrow(InvalidPattern);
    },
  );

  test("any text is a pattern or refused, and what RE2 is given, it takes", async () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      "(",
      ")",
      "(?<n>",
      "(?:",
      "[",
      "]",
      "^",
      "-",
      "\\d",
      "\\w",
      "*",
      "+",
      "?",
      "{2}",
      "|",
      ".",
      "$",
      "\\",
      "(?i)",
      "[:alpha:]",
      "(?=",
      "\\1",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 10 }), async (pieces) => {
        let pattern: Pattern;
        try {
          pattern = readPattern(pieces.join(""));
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidPattern);
          return;
        }
        expect(typeof (await value(matchesSql(sql`'ab-b'`, pattern)))).toBe("boolean");
      }),
      { numRuns: 500 },
    );
  });

  test("RE2 and the program find the same", async () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      "(a)",
      "(a|b)",
      "(?:ab)",
      "[ab]",
      "[^a]",
      "a*",
      "b+?",
      ".",
      "a{1,2}",
      "|",
      "\\d",
      "\\b",
      "$",
      "^",
    );
    const text = fc
      .array(fc.constantFrom("a", "b", "1", " "), { maxLength: 8 })
      .map((letters) => letters.join(""));
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), text, async (pieces, given) => {
        const pattern = readPattern(pieces.join(""));
        const inProgram = { ...pattern, re2: undefined };
        const column = sql`CAST(${given} AS VARCHAR)`;
        const both = async (of: (which: Pattern) => Sql) => [
          await value(of(pattern)),
          await value(of(inProgram)),
        ];
        const [byRe2, byProgram] = await both((which) => matchesSql(column, which));
        expect(byRe2).toBe(byProgram);
        if (pattern.groups.length === 0) return;
        const [first, inThis] = await both(
          (which) => sql`coalesce(${extractFirstSql(column, which, 1)}, '')`,
        );
        expect(first).toBe(inThis);
      }),
      { numRuns: 200 },
    );
  });

  test("replaces every match, with groups in the replacement", async () => {
    for (const pattern of ["(b)(c)?", "(b)(c)?(?=.|$)"].map(readPattern)) {
      const replaced = (text: string, replacement: string) =>
        value(
          replaceSql(
            sql`CAST(${text} AS VARCHAR)`,
            pattern,
            sql`CAST(${replacement} AS VARCHAR)`,
            replacement,
          ),
        );
      expect(await replaced("abcb", "<\\1\\2>")).toBe("a<bc><b>");
      expect(await replaced("abc", "[\\0]")).toBe("a[bc]");
      expect(await replaced("abc", "\\n\\\\$1\\7")).toBe("a\\n\\$1");
    }
  });

  test("gives what any group has matched, also beyond the ninth", async () => {
    const letters = [..."abcdefghijkl"];
    for (const end of ["", "(?=$)"]) {
      const pattern = readPattern(letters.map((letter) => `(${letter})`).join("") + end);
      for (const [index, letter] of letters.entries()) {
        expect(await value(extractFirstSql(sql`'abcdefghijkl'`, pattern, index + 1))).toBe(letter);
      }
    }
  });

  test("gives every match of a group, or so many", async () => {
    for (const pattern of ["(\\w)=(\\d)", "(\\w)=(\\d)(?!x)"].map(readPattern)) {
      expect(await value(extractAllSql(sql`'a=1 b=2 c=3'`, pattern, 2, 0))).toEqual(["1", "2", "3"]);
      expect(await value(extractAllSql(sql`'a=1 b=2 c=3'`, pattern, 1, 2))).toEqual(["a", "b"]);
    }
  });

  test("one that goes astray ends the statement instead of the process", async () => {
    await expect(matches("a".repeat(40), "^(a+)+(?!a)b$")).rejects.toThrow("takes too long");
  });
});
