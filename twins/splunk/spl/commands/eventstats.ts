/** `eventstats`: adds aggregates of all rows, or of each row's group, to every row. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { deferredOf, joinPassthrough, passthroughNames } from "../relation/deferred-columns.ts";
import { withRowNumber } from "../relation/order.ts";
import { extend, type Relation } from "../relation/relation.ts";
import type { Aggregation } from "../stats/aggregation.ts";
import { resolveAggregates } from "../stats/aggregation.ts";
import { checkAggregates } from "../stats/check-aggregates.ts";
import { type Group, type GroupedRows, groupRows, groupsOf } from "../stats/group.ts";
import { groupSite, windowSite } from "../stats/site.ts";
import { siteOptions } from "../stats/site-options.ts";
import { aggregateOverWindow, rowNumber } from "../stats/window-aggregates.ts";
import { readAggregates, readBy } from "../syntax/aggregates.ts";
import { boolean, count } from "../syntax/option-types.ts";

/** `limit` is accepted and has no effect. */
const optionTypes = { allnum: boolean, limit: count };

export const eventstats = defineCommand({
  name: "eventstats",
  kind: "report",
  parse(reader) {
    const first = reader.options(optionTypes);
    const calls = readAggregates(reader);
    if (calls.length === 0) reader.fail("No aggregation is given.");
    checkAggregates(calls, "eventstats");
    const second = reader.options(optionTypes);
    const by = readBy(reader);
    const { allnum = false } = { ...first, ...second, ...reader.options(optionTypes) };
    return { calls, by, onlyNumbers: allnum };
  },
  async compile({ calls, by, onlyNumbers }, input, context) {
    const aggregations = await resolveAggregates(calls, input, context, { command: "eventstats", by });
    const rows = needsRowOrder(aggregations) ? withRowNumber(input) : input;
    const groups = groupsOf(by, rows);
    const options = await siteOptions(rows, context, aggregations, { onlyNumbers });
    if (needsRowOrder(aggregations) || aggregations.some(({ call }) => call.name === "values")) {
      return joinAggregates(rows, await groupRows(rows, groups, aggregations, groupSite(options)), groups);
    }
    const keys = groups.map(({ value }): Sql => value?.sql ?? raw("NULL"));
    const window = keys.length === 0 ? raw("()") : sql`(PARTITION BY ${joined(keys, ", ")})`;
    const site = windowSite(options, rowNumber, window);
    return extend(rows, await aggregateOverWindow(aggregations, site, keys));
  },
});

/**
 * Joins each row with the aggregates of its group. Not as window functions: lists would take memory for each row, and DuckDB cannot
 * interrupt that computation.
 */
function joinAggregates(
  rows: Relation,
  { select, aggregates }: GroupedRows,
  groups: readonly Group[],
): Relation {
  const deferred = deferredOf(rows);
  const names =
    deferred === undefined
      ? aggregates.map((_, index) => `#aggregate${index}`)
      : passthroughNames(deferred, aggregates.length);
  const added = aggregates.map(
    ({ value }, index) => sql`g.${value.sql} AS ${identifier(names[index] ?? "")}`,
  );
  const agreeing = groups.map(
    ({ value }, index) =>
      sql`${value === undefined ? raw("NULL") : sql`r.${value.sql}`} = g.${identifier(`#g${index}`)}`,
  );
  const on = groups.length === 0 ? raw("true") : joined(agreeing, " AND ");
  const from = sql`SELECT r.*, ${joined(added, ", ")} FROM (${rows.select}) AS r LEFT JOIN (${select}) AS g ON ${on}`;
  const deferral = deferred === undefined ? {} : { deferred: joinPassthrough(deferred, from, names) };
  const values = aggregates.map(
    ({ name, value }, index) => [name, { ...value, sql: identifier(names[index] ?? "") }] as const,
  );
  return extend({ ...rows, select: from, ...deferral }, new Map(values));
}

/** Functions whose result depends on the order of the rows. */
const orderedFunctions = new Set([
  ...["first", "last", "earliest", "latest", "list"],
  ...["rate", "rate_avg", "rate_sum"],
]);

function needsRowOrder(aggregations: readonly Aggregation[]): boolean {
  return aggregations.some((one) => one.kind === "computed" || orderedFunctions.has(one.call.name));
}
