/** Booleans of a body, possibly written as texts. */
import type { Json } from "./read.ts";

export function isTrue(json: Json | undefined): boolean {
  return json === true || json === "true";
}

export function isFalse(json: Json | undefined): boolean {
  return json === false || json === "false";
}
