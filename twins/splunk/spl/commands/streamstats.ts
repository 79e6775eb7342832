/** `streamstats`: adds aggregates over the preceding rows to each row. */
import { raw, type Sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { compileCondition } from "../eval/compile-expression.ts";
import { fieldsOf } from "../eval/fields-of.ts";
import { withRowNumber } from "../relation/order.ts";
import { columnOf, extend, type Relation } from "../relation/relation.ts";
import { commandError } from "../spl-error.ts";
import { resolveAggregates } from "../stats/aggregation.ts";
import { checkAggregates } from "../stats/check-aggregates.ts";
import { groupsOf } from "../stats/group.ts";
import { rowTime } from "../stats/row-time.ts";
import { windowSite } from "../stats/site.ts";
import { siteOptions } from "../stats/site-options.ts";
import { parseSpan, type Span, timeSpanOf } from "../stats/span.ts";
import { resetCount, streamWindow, withGroupChanges } from "../stats/stream-windows.ts";
import { approximateSeconds } from "../stats/time-buckets.ts";
import { aggregateOverWindow, rowNumber } from "../stats/window-aggregates.ts";
import { readAggregates, readBy } from "../syntax/aggregates.ts";
import type { ArgumentReader, OptionType } from "../syntax/argument-reader.ts";
import type { Expression } from "../syntax/ast.ts";
import { boolean, count } from "../syntax/option-types.ts";
import { parseExpression } from "../syntax/parse-text.ts";

/** `limits.conf`: `max_stream_window`. */
const MAX_WINDOW = 10_000;
const command = "streamstats";

const timeWindow: OptionType<Span> = {
  expected: "time span",
  read: parseSpan,
  errorMessage: () => "time_window must be a valid time span.",
};

const optionTypes = {
  ...{ current: boolean, global: boolean, allnum: boolean, reset_on_change: boolean },
  ...{ window: count, time_window: timeWindow },
};

export const streamstats = defineCommand({
  name: command,
  kind: "stateful",
  parse(reader) {
    const options = readOptions(reader);
    const calls = readAggregates(reader);
    const { read, resets } = readOptions(reader);
    calls.push(...readAggregates(reader));
    if (calls.length === 0) reader.fail("No aggregation is given.");
    checkAggregates(calls, command);
    const by = readBy(reader);
    const last = readOptions(reader);
    const given = { ...options.read, ...read, ...last.read };
    const size = given.window ?? 0;
    if (size > MAX_WINDOW)
      reader.fail(`The streaming window size ${size} is invalid (maximum size = ${MAX_WINDOW}).`);
    const span = given.time_window === undefined ? undefined : timeSpanOf(given.time_window);
    return {
      calls,
      by,
      onlyNumbers: given.allnum ?? false,
      resetsOnChange: given.reset_on_change ?? false,
      resets: { ...options.resets, ...resets, ...last.resets },
      window: {
        current: given.current ?? true,
        size,
        global: given.global ?? true,
        timeWindow: span === undefined ? undefined : approximateSeconds(span),
      },
    };
  },
  async compile({ calls, by, onlyNumbers, resetsOnChange, resets, window }, input, context) {
    const aggregations = await resolveAggregates(calls, input, context, { command, by });
    const outputs = aggregations.map(({ name }) => name);
    if (window.timeWindow !== undefined && columnOf(input, "_time") === undefined) {
      throw commandError(
        command,
        "time_window can only be used on input that is sorted in time order (both ascending and descending order are ok).",
        "run",
      );
    }
    const keys = groupsOf(by, input).map(({ value }): Sql => value?.sql ?? raw("NULL"));
    let rows = withRowNumber(input);
    const counts: Sql[] = await resetCounts(resets, rows, outputs, context);
    if (resetsOnChange && keys.length > 0) {
      const { rows: compared, changed } = withGroupChanges(rows, keys);
      rows = compared;
      counts.push(resetCount(changed, "before"));
    }
    const stream = streamWindow(rows, keys, counts, rowTime(rows), window);
    const options = await siteOptions(stream.rows, context, aggregations, { onlyNumbers });
    const site = windowSite(options, rowNumber, stream.window);
    return extend(stream.rows, await aggregateOverWindow(aggregations, site, keys));
  },
});

interface Resets {
  before?: Expression;
  after?: Expression;
}

/** Reads options and reset conditions: `reset_before=("x==1")`. */
function readOptions(reader: ArgumentReader) {
  let read: ReturnType<typeof readPlain> = {};
  const resets: Resets = {};
  for (;;) {
    const start = reader.offset();
    read = { ...read, ...readPlain(reader) };
    for (const end of ["before", "after"] as const) {
      const word = reader.peek();
      if (word.type !== "word" || word.text.toLowerCase() !== `reset_${end}`) continue;
      reader.next();
      if (!reader.symbol("=")) reader.fail(`Missing a value for option 'reset_${end}'.`);
      resets[end] = readCondition(reader);
    }
    if (reader.offset() === start) return { read, resets };
  }
}

/** Reads a condition in parentheses; the parentheses or the whole may be quoted. */
function readCondition(reader: ArgumentReader): Expression {
  const { type, text } = reader.peek();
  if (type === "string" && text !== "(") {
    reader.next();
    return parseExpression(text, command);
  }
  if (!reader.symbol("(")) reader.next();
  const expression = reader.expression();
  if (!reader.symbol(")") && reader.text("a closing parenthesis") !== ")")
    reader.fail("Mismatched quotes and/or parenthesis.");
  return expression;
}

function readPlain(reader: ArgumentReader) {
  return reader.options(optionTypes);
}

async function resetCounts(
  { before, after }: Resets,
  rows: Relation,
  outputs: readonly string[],
  context: SearchContext,
): Promise<Sql[]> {
  const found: Sql[] = [];
  for (const [expression, position] of [
    [before, "before"],
    [after, "after"],
  ] as const) {
    if (expression === undefined) continue;
    const read = fieldsOf(expression);
    const own = outputs.find((name) => read.has(name));
    if (own !== undefined) {
      throw commandError(
        command,
        `A reset by '${own}', which the command computes itself, is not served here.`,
        "run",
      );
    }
    found.push(
      resetCount(await compileCondition(expression, rows, context, `'${command}' command`), position),
    );
  }
  return found;
}
