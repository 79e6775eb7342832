import { expect, test } from "vitest";
import { parseSearch } from "../../spl/parse-search.ts";
import type { Macro } from "../../spl/syntax/macros.ts";

const defined = (definition: string) => ({
  macro: (name: string): Macro => ({ name, args: [], definition, isEval: false }),
});

test("a search that comes again means the same, and one with a macro what the macro is by then", () => {
  const none = { macro: () => undefined };
  const first = parseSearch("search host=a | head 3", none);
  expect(parseSearch("search host=a | head 3", none).commands).toEqual(first.commands);
  expect(parseSearch("search `x`", defined("host=a")).text).toBe("search host=a");
  expect(parseSearch("search `x`", defined("host=b")).text).toBe("search host=b");
});

test("a search that is refused is refused again", () => {
  const none = { macro: () => undefined };
  expect(() => parseSearch("search host=a | nosuch", none)).toThrow("nosuch");
  expect(() => parseSearch("search host=a | nosuch", none)).toThrow("nosuch");
});
