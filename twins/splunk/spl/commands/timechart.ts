/** `timechart`: aggregates for each time bucket, optionally by the values of a field. */
import { sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, fieldValue, filter, type Relation } from "../relation/relation.ts";
import { type Rows, relationOf } from "../relation/rows.ts";
import { commandError } from "../spl-error.ts";
import { type Aggregation, uniqueByName } from "../stats/aggregation.ts";
import { binField, rangeExtent, timeBucketsOf } from "../stats/bin-options.ts";
import { readChart } from "../stats/chart-arguments.ts";
import { resolveColumns } from "../stats/computed.ts";
import { fillTimeGaps } from "../stats/fill-gaps.ts";
import { type Group, groupRows, orderByGroups, unnestGroups } from "../stats/group.ts";
import {
  type Column,
  emptyCell,
  MAX_LONG_ROWS,
  pivot,
  rowsOfTable,
  type Table,
  tableOf,
} from "../stats/pivot.ts";
import { expandPrestats } from "../stats/prestats.ts";
import { rowTime } from "../stats/row-time.ts";
import { longForm } from "../stats/series.ts";
import { groupSite } from "../stats/site.ts";
import { siteOptions } from "../stats/site-options.ts";
import type { TimeBuckets } from "../stats/time-buckets.ts";

const command = "timechart";

export const timechart = defineCommand({
  name: command,
  kind: "report",
  parse(reader) {
    // The only BY field names the series, because the rows are times.
    const { row: series, series: second, bins, ...read } = readChart(reader);
    if (second !== undefined) reader.fail("Only one field can split the series.");
    // A span of time after BY applies to the rows.
    const { span, ...others } = series?.bins ?? {};
    const isTime = bins.span === undefined && typeof span === "object" && span.kind === "time";
    const time = isTime ? { ...bins, span } : bins;
    const seriesBins = isTime || span === undefined ? others : { ...others, span };
    return { ...read, bins: time, series: series && { name: series.name, bins: seriesBins } };
  },
  async compile({ calls, series, options, bins, condition, score }, given, context) {
    const input = expandPrestats(given);
    const names = { command, by: ["_time"] };
    const aggregations = uniqueByName(await resolveColumns(calls, input, context, names), names);
    if (columnOf(input, "_time") === undefined) return relationOf({ fields: [], rows: [] });
    const buckets = await timeBucketsOf(bins, input, context, command);
    const row: Group = {
      name: "_time",
      value: { type: "number", multi: false, sql: buckets.bucket(rowTime(input)) },
      // Rows without a time are filtered out below.
      optional: true,
    };
    const dated = filter(input, sql`${rowTime(input)} IS NOT NULL`);
    const site = async (rows: Relation) => {
      const seconds = sql`CAST(${buckets.spanSeconds} AS DOUBLE)`;
      return groupSite({ ...(await siteOptions(rows, context, aggregations)), seconds });
    };
    let table: Table;
    if (series === undefined) {
      const form = orderByGroups(await groupRows(dated, [row], aggregations, await site(dated)));
      table = tableOf(await context.run(form, MAX_LONG_ROWS), tableColumns(form, 1, aggregations));
    } else {
      const split = await seriesGroup(series, input, context);
      const rows = unnestGroups(dated, [row, split], { distinctValues: options.dedup_splitvals ?? false });
      const [keys = row, values = split] = rows.groups;
      const form = await longForm(
        {
          command,
          input: rows.input,
          row: keys,
          series: values,
          aggregations,
          site: await site(rows.input),
          options,
          condition,
          score,
        },
        context,
      );
      table = pivot(
        command,
        await context.run(form, MAX_LONG_ROWS),
        tableColumns(form, 2, aggregations),
        options,
      );
    }
    const extent = (options.fixedrange ?? true) ? rangeExtent(input, context) : {};
    const complete = fillTimeGaps(command, table, buckets, extent, options);
    if (complete === undefined) {
      throw commandError(command, "The specified span would result in too many (>50000) rows.", "run");
    }
    return relationOf(
      withSpan(rowsOfTable(complete, { name: "_time", type: "number", multi: false, groupRank: 0 }), buckets),
    );
  },
});

function tableColumns(form: Relation, from: number, aggregations: readonly Aggregation[]): Column[] {
  return form.columns
    .slice(from)
    .map((column, index) => ({ ...column, empty: emptyCell(aggregations[index]) }));
}

async function seriesGroup(
  { name, bins }: { name: string; bins: Parameters<typeof binField>[1] },
  input: Relation,
  context: SearchContext,
): Promise<Group> {
  const column = columnOf(input, name);
  if (column === undefined) return { name, value: undefined, optional: true };
  const wants = [bins.bins, bins.span, bins.minspan, bins.start, bins.end].some(
    (given) => given !== undefined,
  );
  const value = wants ? await binField(name, bins, input, context, command) : fieldValue(column);
  return { name, value, optional: true };
}

/** Adds `_span`, the length of each bucket in seconds, for clients that draw it; and `_spandays` for buckets of days. */
function withSpan({ fields, rows }: Rows, buckets: TimeBuckets): Rows {
  const number = (name: string) => ({ name, type: "number" as const, multi: false });
  const days = buckets.spanDays === undefined ? [] : [buckets.spanDays];
  const added = ["_span", ...(days.length > 0 ? ["_spandays"] : [])].map(number);
  return {
    fields: [...fields, ...added],
    rows: rows.map((row) => {
      const start = Number(row[0]);
      const seconds = days[0] === undefined ? buckets.next(start) - start : buckets.spanSeconds;
      return [...row, Math.round(seconds * 1e6) / 1e6, ...days];
    }),
  };
}
