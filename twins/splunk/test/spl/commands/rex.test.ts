import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench([{ message: "user=alice port=22" }, { message: "nobody" }]);
});
afterAll(() => bench.close());

const rows = async (input: readonly object[], text: string) => (await bench.searchRows(input, text)).rows;
const fails = (text: string) => bench.refusal(`| makeresults | ${text}`);

test("rule 59: named groups become fields; without a match fields stay what they are", async () => {
  const input = [{ x: "user=alice port=22" }, { x: "nothing", user: "before" }, { user: "other" }];
  expect(await rows(input, `rex field=x "user=(?<user>\\w+) port=(?<port>\\d+)"`)).toEqual([
    { x: "user=alice port=22", user: "alice", port: "22" },
    { x: "nothing", user: "before" },
    { user: "other" },
  ]);
});

test("rule 59: the default field is _raw", async () => {
  const { rows: found } = await bench.search(`search index=* | rex "user=(?<user>\\w+)" | table user`);
  expect(found).toEqual([{}, { user: "alice" }]);
});

test("rule 59: max_match=0 gives every match as a multi-value, max_match=2 the first two", async () => {
  const input = [{ x: "a=1 b=2 c=3" }];
  expect(await rows(input, `rex field=x max_match=0 "(?<k>\\w)=(?<v>\\d)"`)).toEqual([
    { x: "a=1 b=2 c=3", k: ["a", "b", "c"], v: ["1", "2", "3"] },
  ]);
  expect(await rows(input, `rex field=x "(?<k>\\w)=(?!3)" max_match=2`)).toEqual([
    { x: "a=1 b=2 c=3", k: ["a", "b"] },
  ]);
});

test("a regular expression can look around and back, and have many groups", async () => {
  const letters = [..."abcdefghijkl"];
  const groups = letters.map((letter) => `(?<g_${letter}>${letter})`).join("");
  const [found] = await rows([{ x: "abcdefghijkl" }], `rex field=x "${groups}"`);
  expect(found).toEqual({
    x: "abcdefghijkl",
    ...Object.fromEntries(letters.map((letter) => [`g_${letter}`, letter])),
  });
  expect(await rows([{ x: "key: 'a\"b'" }], `rex field=x "(?<q>['\\"])(?<v>.*?)\\k<q>"`)).toEqual([
    { x: "key: 'a\"b'", q: "'", v: 'a"b' },
  ]);
});

test("offset_field says where the groups are, first and last character from 0", async () => {
  expect(
    await rows(
      [{ x: "user=alice port=22" }],
      `rex field=x offset_field=at "(?<user>a\\w+) port=(?<port>\\d+)"`,
    ),
  ).toEqual([{ x: "user=alice port=22", user: "alice", port: "22", at: "user=5-9&port=16-17" }]);
});

test("a multi-value is looked at as its lines, a number as its text", async () => {
  expect(
    await rows(
      [{ x: ["no", "id=7"], n: 1234 }],
      `rex field=x "^(?m)id=(?<id>\\d)" | rex field=n "^(?<first>\\d)"`,
    ),
  ).toEqual([{ x: ["no", "id=7"], n: 1234, first: "1" }]);
  expect(await rows([{ x: ["no", "id=7"] }], `rex field=x "(?m)^id=(?<id>\\d)"`)).toEqual([
    { x: ["no", "id=7"], id: "7" },
  ]);
});

test("rule 59: mode=sed substitutes and transliterates", async () => {
  const sed = async (x: unknown, edit: string) =>
    (await rows([{ x }], `rex field=x mode=sed "${edit}"`))[0]?.x;
  expect(await sed("1234-5678-9012-3456", "s/(\\d{4}-){3}/XXXX-XXXX-XXXX-/g")).toBe("XXXX-XXXX-XXXX-3456");
  expect(await sed("aaa", "s/a/b/")).toBe("baa");
  expect(await sed("aaa", "s/a/b/2")).toBe("aba");
  expect(await sed("a/b", "s/\\//|/g")).toBe("a|b");
  expect(await sed("a,b", "s#(\\w),(\\w)#\\2,\\1#")).toBe("b,a");
  expect(await sed("abcABC", "y/abc/xyz/")).toBe("xyzABC");
  expect(await sed("one two", "s/one/1/ s/two/2/; y/12/ab/")).toBe("a b");
  expect(await sed(["xa", "xb"], "s/x//")).toEqual(["a", "b"]);
  expect(await sed("ABab", "s/a//gi")).toBe("Bb");
});

test("what cannot be done is said in splunkd's words", async () => {
  expect(await fails(`rex "(\\d+)"`)).toBe(
    "Error in 'rex' command: The regex '(\\d+)' does not extract anything. It should specify at least one named group. Format: (?<name>...).",
  );
  expect(await fails(`rex "(?<x>"`)).toContain(
    "Error in 'rex' command: Encountered the following error while compiling the regex '(?<x>': Regex: missing closing parenthesis",
  );
  expect(await fails(`rex mode=sed "s/a"`)).toContain("Error in 'rex' command: Failed to initialize sed.");
  expect(await fails("rex")).toContain("Error in 'rex' command");
  expect(await fails(`rex max_match=x "(?<a>b)"`)).toContain("max_match");
});

test.each([
  ["(?P<bad>[", "missing terminating ] for character class"],
  ["a**", "quantifier does not follow a repeatable item"],
  ["*a", "quantifier does not follow a repeatable item"],
  ["(?P<1bad>x)", "subpattern name must start with a non-digit"],
  ["(?<", "subpattern name expected"],
  ["a{3,1}", "numbers out of order in {} quantifier"],
  ["[z-a]", "range out of order in character class"],
  ["(?P<x>a)(?P<x>b)", "two named subpatterns have the same name (PCRE2_DUPNAMES not set)"],
  ["a)", "unmatched closing parenthesis"],
])("rule 59: %s is no regular expression, in PCRE2's words", async (pattern, clause) => {
  expect(await fails(`rex "${pattern}"`)).toBe(
    `Error in 'rex' command: Encountered the following error while compiling the regex '${pattern}': Regex: ${clause}.`,
  );
});

test("rule 59: regex keeps what matches, or with != what does not", async () => {
  const input = [{ x: "10.1.2.3" }, { x: "110.1.2.3" }, { y: "z" }];
  expect(await rows(input, `regex x="(?<!\\d)10\\.\\d+"`)).toEqual([{ x: "10.1.2.3" }]);
  expect(await rows(input, `regex x!="^10"`)).toEqual([{ x: "110.1.2.3" }, { y: "z" }]);
  expect(await rows([{ _raw: "abc" }, { _raw: "xyz" }], `regex "^a|c$"`)).toEqual([{ _raw: "abc" }]);
  expect(await rows([{ x: ["a", "b"] }], `regex x="^b$"`)).toEqual([{ x: ["a", "b"] }]);
  expect(await fails(`regex x="("`)).toBe(
    "Error in 'SearchOperator:regex': The regex '(' is invalid. Regex: missing closing parenthesis.",
  );
});
