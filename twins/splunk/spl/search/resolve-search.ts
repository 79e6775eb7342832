/** Resolves the references of a search expression before it becomes SQL: time range, subsearches, tags, event types. */
import type { SearchContext } from "../context/search-context.ts";
import { isLike } from "../relation/wildcards.ts";
import { SplError } from "../spl-error.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { parseSearchExpression } from "../syntax/parse-text.ts";
import type { Comparison } from "./comparisons.ts";
import { subsearchText } from "./format-rows.ts";
import { type SearchTimes, type TimeModifier, timesOf } from "./time-modifiers.ts";

export interface ResolvedSearch {
  /** Only terms and comparisons. */
  found: SearchExpression;
  times: SearchTimes;
}

/** Nesting depth of event types, and of subsearches that return subsearches. */
const MAX_DEPTH = 20;

/** @throws SplError */
export async function resolveSearch(
  expression: SearchExpression,
  context: SearchContext,
): Promise<ResolvedSearch> {
  const spliced = await expand(expression, context, 0);
  const times = timesOf(timeModifiers(spliced), context);
  if (timeModifiers(expression).some(({ modifier }) => modifier === "earliest" || modifier === "latest")) {
    const text = "Your timerange was substituted based on your search string";
    context.warn({ type: "INFO", text });
  }
  return { found: removeTimes(spliced) ?? { node: "all" }, times };
}

/** All time modifiers of an expression, in order. */
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

/** @returns `undefined` when the expression consists of time modifiers only */
function removeTimes(expression: SearchExpression): SearchExpression | undefined {
  switch (expression.node) {
    case "time":
      return undefined;
    case "not": {
      const operand = removeTimes(expression.operand);
      return operand && { node: "not", operand };
    }
    case "and":
    case "or": {
      const operands = expression.operands.flatMap((operand) => removeTimes(operand) ?? []);
      const [only] = operands;
      return operands.length > 1 ? { ...expression, operands } : only;
    }
    default:
      return expression;
  }
}

async function expand(
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
      for (const operand of expression.operands) operands.push(await expand(operand, context, depth));
      return { ...expression, operands };
    }
    case "not":
      return { node: "not", operand: await expand(expression.operand, context, depth) };
    case "subsearch": {
      const rows = await context.subsearch(expression.subsearch.pipeline);
      const text = `${expression.prefix}${subsearchText(rows)}`;
      return expand(parseSearchExpression(text, context.parse), context, depth + 1);
    }
    case "comparison":
      return resolveComparison(expression, context, depth);
    case "in":
      if (expression.field !== "tag" && expression.field !== "eventtype") return expression;
      return expand(
        { node: "or", operands: expression.values.map((value) => equality(expression.field, value.text)) },
        context,
        depth,
      );
    default:
      return expression;
  }
}

/** Replaces comparisons with tags and event types by what these stand for. */
async function resolveComparison(
  comparison: Comparison,
  context: SearchContext,
  depth: number,
): Promise<SearchExpression> {
  const { field, comparator, value } = comparison;
  if (comparator !== "=" && comparator !== "!=") return comparison;
  let resolved: SearchExpression | undefined;
  if (field === "tag") resolved = resolveTag(value.text, comparison, context);
  else if (field === "eventtype") resolved = await resolveEventType(value.text, comparison, context, depth);
  else if (unservedFields.has(field)) {
    throw new SplError(`Error in 'search' command: '${field}=' is not served here.`, "run");
  }
  if (resolved === undefined) return comparison;
  return comparator === "!=" ? { node: "not", operand: resolved } : resolved;
}

/** Fields that refer to knowledge objects which the twin does not have. */
const unservedFields = new Set(["hosttag", "eventtypetag", "savedsearch", "savedsplunk"]);

/** `tag=web`, or `tag::host=web` for tags of one field only. */
function resolveTag(text: string, comparison: Comparison, { knowledge }: SearchContext): SearchExpression {
  const [, field, tag = text] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  const pairs = knowledge.tagged(tag).filter((pair) => field === undefined || pair.field === field);
  const own: SearchExpression =
    field === undefined ? { ...comparison, comparator: "=" } : equality(`tag::${field}`, tag);
  return { node: "or", operands: [...pairs.map((pair) => equality(pair.field, pair.value)), own] };
}

async function resolveEventType(
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
    operands.push(await expand(parseSearchExpression(search, context.parse), context, depth + 1));
  }
  return { node: "or", operands };
}

function equality(field: string, text: string): Comparison {
  return { node: "comparison", field, comparator: "=", value: { text, quoted: true }, mode: "plain" };
}
