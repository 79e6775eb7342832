/** What a search expression refers to is put in its place before it becomes SQL: its time range, subsearches, tags, event types. */
import type { SearchContext } from "../context/search-context.ts";
import { isLike } from "../relation/wildcards.ts";
import { SplError } from "../spl-error.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { parseSearchExpression } from "../syntax/parse-text.ts";
import type { Comparison } from "./comparisons.ts";
import { splicedText } from "./format-rows.ts";
import { type SearchTimes, type TimeModifier, timesOf } from "./time-modifiers.ts";

export interface ResolvedSearch {
  /** Terms and comparisons alone. */
  found: SearchExpression;
  times: SearchTimes;
}

/** How deep event types may name each other, and subsearches make others. */
const MAX_DEPTH = 20;

/** @throws SplError */
export async function resolveSearch(
  expression: SearchExpression,
  context: SearchContext,
): Promise<ResolvedSearch> {
  const spliced = await splice(expression, context, 0);
  const times = timesOf(timeModifiers(spliced), context);
  if (timeModifiers(expression).some(({ modifier }) => modifier === "earliest" || modifier === "latest")) {
    const text = "Your timerange was substituted based on your search string";
    context.warn({ type: "INFO", text });
  }
  return { found: withoutTimes(spliced) ?? { node: "all" }, times };
}

/** The time modifiers anywhere in an expression, in their order. */
export function timeModifiers(expression: SearchExpression): TimeModifier[] {
  switch (expression.node) {
    case "time":
      return [expression];
    case "and":
    case "or":
      return expression.operands.flatMap(timeModifiers);
    case "not":
      return timeModifiers(expression.operand);
    default:
      return [];
  }
}

/** `undefined` when nothing else was said. */
function withoutTimes(expression: SearchExpression): SearchExpression | undefined {
  switch (expression.node) {
    case "time":
      return undefined;
    case "not": {
      const operand = withoutTimes(expression.operand);
      return operand && { node: "not", operand };
    }
    case "and":
    case "or": {
      const operands = expression.operands.flatMap((operand) => withoutTimes(operand) ?? []);
      const [only] = operands;
      return operands.length > 1 ? { ...expression, operands } : only;
    }
    default:
      return expression;
  }
}

async function splice(
  expression: SearchExpression,
  context: SearchContext,
  depth: number,
): Promise<SearchExpression> {
  if (depth > MAX_DEPTH)
    throw new SplError("Error in 'search' command: Event types refer to themselves.", "run");
  switch (expression.node) {
    case "and":
    case "or": {
      const operands: SearchExpression[] = [];
      for (const operand of expression.operands) operands.push(await splice(operand, context, depth));
      return { ...expression, operands };
    }
    case "not":
      return { node: "not", operand: await splice(expression.operand, context, depth) };
    case "subsearch": {
      const rows = await context.subsearch(expression.subsearch.pipeline);
      const text = `${expression.prefix}${splicedText(rows)}`;
      return splice(parseSearchExpression(text, context.parse), context, depth + 1);
    }
    case "comparison":
      return named(expression, context, depth);
    case "in":
      if (expression.field !== "tag" && expression.field !== "eventtype") return expression;
      return splice(
        { node: "or", operands: expression.values.map((value) => equal(expression.field, value.text)) },
        context,
        depth,
      );
    default:
      return expression;
  }
}

/** Comparisons with names of knowledge objects. */
async function named(
  comparison: Comparison,
  context: SearchContext,
  depth: number,
): Promise<SearchExpression> {
  const { field, comparator, value } = comparison;
  if (comparator !== "=" && comparator !== "!=") return comparison;
  let meant: SearchExpression | undefined;
  if (field === "tag") meant = tagged(value.text, comparison, context);
  else if (field === "eventtype") meant = await eventType(value.text, comparison, context, depth);
  else if (unservedFields.has(field)) {
    throw new SplError(`Error in 'search' command: '${field}=' is not served here.`, "run");
  }
  if (meant === undefined) return comparison;
  return comparator === "!=" ? { node: "not", operand: meant } : meant;
}

/** What splunkd looks up in knowledge objects that there are none of here. */
const unservedFields = new Set(["hosttag", "eventtypetag", "savedsearch", "savedsplunk"]);

/** `tag=web`, and `tag::host=web` for the tag of a field's value alone. */
function tagged(text: string, comparison: Comparison, { knowledge }: SearchContext): SearchExpression {
  const [, field, tag = text] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  const pairs = knowledge.tagged(tag).filter((pair) => field === undefined || pair.field === field);
  const own: SearchExpression =
    field === undefined ? { ...comparison, comparator: "=" } : equal(`tag::${field}`, tag);
  return { node: "or", operands: [...pairs.map((pair) => equal(pair.field, pair.value)), own] };
}

async function eventType(
  name: string,
  comparison: Comparison,
  context: SearchContext,
  depth: number,
): Promise<SearchExpression | undefined> {
  const { knowledge } = context;
  const names = name.includes("*") ? knowledge.eventTypes().filter((one) => isLike(one, name)) : [name];
  const searches = names.flatMap((one) => knowledge.eventType(one) ?? []);
  if (searches.length === 0) {
    if (!name.includes("*")) {
      context.warn({ type: "WARN", text: `The event type '${name}' does not exist or is deactivated.` });
    }
    return undefined;
  }
  const operands: SearchExpression[] = [{ ...comparison, comparator: "=" }];
  for (const search of searches) {
    operands.push(await splice(parseSearchExpression(search, context.parse), context, depth + 1));
  }
  return { node: "or", operands };
}

function equal(field: string, text: string): Comparison {
  return { node: "comparison", field, comparator: "=", value: { text, quoted: true }, mode: "plain" };
}
