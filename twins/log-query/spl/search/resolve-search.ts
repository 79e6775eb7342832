/** What a search expression refers to is put in its place before it becomes SQL: its time range, subsearches, tags, event types. */
import type { SearchContext } from "../search-context.ts";
import type { SearchExpression } from "../syntax/ast.ts";

export interface ResolvedSearch {
  /** Terms and comparisons alone. */
  found: SearchExpression;
  /** The search's context in its own time range. */
  within: SearchContext;
}

export async function resolveSearch(
  expression: SearchExpression,
  context: SearchContext,
): Promise<ResolvedSearch> {
  return { found: expression, within: context };
}
