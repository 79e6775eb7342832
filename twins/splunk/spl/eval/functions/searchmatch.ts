/** `searchmatch`: whether the `search` command would find a row. */
import { resolveSearch } from "../../search/resolve-search.ts";
import { searchPredicate } from "../../search/search-predicate.ts";
import { parseSearchExpression } from "../../syntax/parse-text.ts";
import { boolean } from "../value.ts";
import type { FormFunction } from "./declaration.ts";

export const searchmatch: FormFunction = {
  kind: "form",
  name: "searchmatch",
  family: "comparison and conditional",
  syntax: "searchmatch(search)",
  summary: "Whether the `search` command would find the row.",
  minArgs: 1,
  maxArgs: 1,
  async compile([search], { scope, fail }) {
    if (search?.node !== "string") return fail();
    const { context, input } = scope;
    const { found } = await resolveSearch(parseSearchExpression(search.value, context.parse), context);
    return boolean(searchPredicate(found, input));
  },
};
