/** Regular expressions in expressions. */
import { InvalidPattern, readPattern } from "../regex/pcre.ts";
import type { PatternSource } from "../regex/regex-sql.ts";
import { singleText } from "./arithmetic.ts";
import type { Use } from "./functions/declaration.ts";
import type { Value } from "./value.ts";

/** @throws SplError when it is none, as far as that is known */
export function patternOf(value: Value, { scope, fail }: Use): PatternSource {
  if (value.type !== "text") return fail();
  if (typeof value.constant !== "string") return singleText(value);
  try {
    return readPattern(value.constant);
  } catch (error) {
    if (error instanceof InvalidPattern) return scope.fail(error.message);
    throw error;
  }
}
