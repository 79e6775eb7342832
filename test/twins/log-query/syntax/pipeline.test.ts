import { afterAll, beforeAll, expect, test } from "vitest";
import { parseSearch } from "../../../../twins/log-query/spl/parse-search.ts";
import { SplError } from "../../../../twins/log-query/spl/spl-error.ts";
import { withImplicitSearch } from "../../../../twins/log-query/spl/syntax/text.ts";
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
    "Error in 'head' command: Invalid option value. Expecting a 'non-negative integer' for option 'limit'. Instead got 'x'.",
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
