/** The options of commands that take a subsearch's rows. */
import type { ArgumentReader } from "./argument-reader.ts";
import type { Subsearch } from "./ast.ts";
import { boolean, count } from "./option-types.ts";

export const subsearchOptionTypes = {
  extendtimerange: boolean,
  maxtime: count,
  maxout: count,
  timeout: count,
};

/** `[ … ]`, which has to be next. */
export function readSubsearch(reader: ArgumentReader): Subsearch {
  return reader.subsearch() ?? reader.fail("The last argument must be a subsearch.");
}
