/** Values that a field's type cannot hold: an error in `vendor`, no match in `specification`. */
import { VendorError } from "../../vendor/error.ts";
import type { QueryContext } from "../compiled-query.ts";
import { type Matcher, nothing } from "./matcher.ts";

/** Compiles a clause; in `specification` an unfit value matches nothing instead of failing. */
export function ignoreUnfitInSpecification<Compiled extends Matcher | undefined>(
  { fidelity }: QueryContext,
  compile: () => Compiled,
): Compiled | Matcher {
  return fidelity === "vendor" ? compile() : ignoreUnfit(compile);
}

/** Compiles a clause; an unfit value matches nothing (`lenient`). */
export function ignoreUnfit<Compiled extends Matcher | undefined>(
  compile: () => Compiled,
): Compiled | Matcher {
  try {
    return compile();
  } catch (error) {
    if (error instanceof VendorError) return nothing;
    throw error;
  }
}
