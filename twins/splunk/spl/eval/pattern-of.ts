/** Regular expressions as arguments of functions. */
import { InvalidPattern, readPattern } from "../regex/pcre.ts";
import type { PatternSource } from "../regex/regex-sql.ts";
import { singleText } from "./arithmetic.ts";
import type { Use } from "./functions/declaration.ts";
import type { Value } from "./value.ts";

/** The pattern of a value. @throws SplError if it is known to be invalid before the search runs */
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
