/** An unsigned number meets only its own kind. */
import type { Compiler } from "../compiler.ts";
import type { Span } from "../errors.ts";
import type { Typed } from "../typed.ts";

/** @returns whether one of the two is unsigned and the other is not; a problem is then told. */
export function mixesUnsigned(compiler: Compiler, left: Typed, right: Typed, at: Span): boolean {
  if ((left.type === "unsigned_long") === (right.type === "unsigned_long")) return false;
  compiler.problems.mismatch(
    at,
    `first argument of [${compiler.text(at)}] is [${left.type}] and second is [${right.type}]. [unsigned_long] can only be operated on together with another [unsigned_long]`,
  );
  return true;
}
