/** Refuses searches on fields whose mapping excludes them. */
import type { QueryContext } from "../compiled-query.ts";
import { conversionError } from "../errors.ts";
import { targetOf } from "./target.ts";

/** @throws VendorError for a field with `index: false` that also has no usable doc values */
export function checkSearchable(context: QueryContext, name: string): void {
  const target = targetOf(context, name, "whole");
  if (!("field" in target) || target.field.mapping?.isSearchable !== false) return;
  const lacking = target.field.type === "text" ? "indexed" : "indexed nor has doc values";
  throw conversionError(
    `Cannot search on field [${name}] since it is not ${lacking}.`,
    "illegal_argument_exception",
  );
}
