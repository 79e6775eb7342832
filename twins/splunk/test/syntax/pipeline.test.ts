import { afterAll, beforeAll, expect, test } from "vitest";
import { parseSearch } from "../../spl/parse-search.ts";
import { SplError } from "../../spl/spl-error.ts";
import { withImplicitSearch } from "../../spl/syntax/text.ts";
import { type SplBench, splBench } from "../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const none = { macro: () => undefined };
const refusalOf = (text: string): string => {
  try {
    parseSearch(text, none);
  } catch (error) {
    if (error instanceof SplError && error.phase === "dispatch") return error.message;
    throw error;
  }
  throw new Error(`this was read: ${text}`);
};

test("the first word is a command, with or without a pipe before it", () => {
  expect(parseSearch("head 3 | fields a, b", none).commands.map(({ name }) => name)).toEqual([
    "head",
    "fields",
  ]);
  expect(parseSearch(" | HEAD 3", none).commands[0]).toMatchObject({ name: "head", rawArgs: "3" });
  expect(refusalOf("abcd")).toBe("Unknown search command 'abcd'.");
});

test("a command that is not served is refused by its name", () => {
  expect(refusalOf("| anomalydetection x")).toBe(
    "Error in 'anomalydetection' command: This command is not served here.",
  );
});

test("what has no other half is refused", () => {
  expect(refusalOf('head "3')).toBe("Unbalanced quotes.");
  expect(refusalOf("head 3 ]")).toBe("Error in 'SearchParser': Mismatched ']'.");
  expect(refusalOf("head [ head")).toBe("Error in 'SearchParser': Mismatched '['.");
});

test("a pipe without a command before it is refused with its position", () => {
  expect(refusalOf("head 3 | | head 2")).toBe(
    "Error in 'SearchParser': Missing a search command before '|'. Error at position '9' of search query 'head 3 | | head 2'.",
  );
  expect(refusalOf("head 3 |")).toBe("Error in 'SearchParser': Missing a search command after '|'.");
});

test("an option of the wrong type is refused with what was expected", () => {
  expect(refusalOf("| head limit=x")).toBe(
    "Error in 'SearchProcessor': Invalid option value. Expecting a 'non-negative integer' for option 'limit'. Instead got 'x'.",
  );
});

test("the pages' own searches begin with search when nobody wrote a command", () => {
  expect(withImplicitSearch("error")).toBe("search error");
  expect(withImplicitSearch("searching")).toBe("search searching");
  expect(withImplicitSearch("search error")).toBe("search error");
  expect(withImplicitSearch(" | head 3")).toBe("| head 3");
});

test("commands run on rows", async () => {
  const rows = [
    { a: 1, b: "x", c: null },
    { a: 2, b: ["y", "z"] },
  ];
  expect(await bench.searchRows(rows, "head 1 | fields b a")).toMatchObject({
    fields: ["b", "a"],
    rows: [{ b: ["x"], a: 1 }],
  });
  expect((await bench.searchRows(rows, "| fields - b")).rows).toEqual([{ a: 1 }, { a: 2 }]);
});

test("a pipeline of a thousand commands runs", async () => {
  const search = Array.from({ length: 1_000 }, () => "head 5").join(" | ");
  expect((await bench.searchRows([{ a: 1 }, { a: 2, b: ["x", "y"] }], search)).rows).toEqual([
    { a: 1 },
    { a: 2, b: ["x", "y"] },
  ]);
});

test("subsearches are nested eight deep at most", () => {
  const nested = (depth: number) => `${"append [ | makeresults | ".repeat(depth)}head 1${" ]".repeat(depth)}`;
  expect(parseSearch(nested(8), none).commands).toHaveLength(1);
  expect(refusalOf(nested(9))).toBe(
    "Error in 'SearchParser': Cannot run this search as it contains too many nested subsearches. Maximum nested subsearches allowed: 8.",
  );
});

/** What splunkd's catalogue of messages (`messages.conf` of 10.2) says. */
test.each([
  ["| stats count(x", "Mismatched quotes and/or parenthesis."],
  ["| stats count by", "You must specify at least one field after 'by'."],
  ["| stats count nosuch=1", "The argument 'nosuch=1' is invalid."],
  ["| streamstats window=20000 count", "The streaming window size 20000 is invalid (maximum size = 10000)."],
  ["| top", "No fields were specified."],
  ["| dedup", "At least one field must be given as an argument."],
  ["| dedup 0 a", "The limit option is invalid. It must be >= 1."],
  ["| dedup a sortby", "You must provide a sortby field name."],
  ["| sort", "You must specify fields to sort."],
  ["| fields", "Must specify at least one valid field name (can contain wildcards)."],
  ["| replace a b", "Usage: replace [orig_str WITH new_str]+ [IN field1, field2, ...]."],
  ["| convert nosuch(a)", "The conversion type 'nosuch' is invalid."],
  ["| convert num", "The conversion specifier is invalid. It must be convert_type(key)."],
  ['| makemv delim="," tokenizer="(.)" a', "Cannot specify both delim and tokenizer options."],
  ['| makemv tokenizer="." a', "The tokenizer regular expression is invalid."],
  ["| strcat a", "There are not enough fields. Usage: strcat srcfield1 srcfield2 ... srcfieldn dest_field."],
  ["| autoregress a as b p=1-2", "You cannot specify new field name when you specify a range for 'p'."],
  ["| lookup", "Expecting lookup table name as the first argument."],
  ["| return", "Usage: [count] attr, $attrval, alias=attr, ..."],
  ["| eval a", "Failed to parse the provided arguments. Usage: eval dest_key = expression."],
  ["| union", "Missing arguments. Expecting a list of datasets and subsearches."],
  ["| metadata type=cats", "The 'type' argument to 'metadata' must be one of the following: 'hosts', "],
  ["| typeahead prefix=a", "Count is a required argument."],
])("%s is refused in splunkd's words", (search, message) => {
  const [, command] = search.split(" ");
  expect(refusalOf(search)).toContain(`Error in '${command}' command: ${message}`);
});
