/** Values that a field's type cannot hold: an error for the vendor, no document for the specification. */
import { VendorError } from "../../vendor/error.ts";
import type { QueryContext } from "../compiled-query.ts";
import { type Matcher, nothing } from "./matcher.ts";

/** In `specification`, what cannot be read matches nothing, with no error. */
export function matchesNothing<Compiled extends Matcher | undefined>(
  { fidelity }: QueryContext,
  compile: () => Compiled,
): Compiled | Matcher {
  return fidelity === "vendor" ? compile() : leniently(compile);
}

/** `lenient`: what cannot be read matches nothing. */
export function leniently<Compiled extends Matcher | undefined>(compile: () => Compiled): Compiled | Matcher {
  try {
    return compile();
  } catch (error) {
    if (error instanceof VendorError) return nothing;
    throw error;
  }
}
