/** `chart`: aggregates as a table of one field by another. */
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { relationOf } from "../relation/rows.ts";
import { commandError } from "../spl-error.ts";
import { uniqueByName } from "../stats/aggregation.ts";
import { binField, timeBucketsOf } from "../stats/bin-options.ts";
import { type BinnedField, readChart } from "../stats/chart-arguments.ts";
import { resolveColumns } from "../stats/computed.ts";
import { fillRangeGaps, fillTimeGaps } from "../stats/fill-gaps.ts";
import { type Group, groupRows, orderByGroups, unnestGroups } from "../stats/group.ts";
import { emptyCell, MAX_LONG_ROWS, pivot, rowsOfTable, type Table, tableOf } from "../stats/pivot.ts";
import { expandPrestats } from "../stats/prestats.ts";
import { longForm } from "../stats/series.ts";
import { groupSite } from "../stats/site.ts";
import { siteOptions } from "../stats/site-options.ts";
import type { TimeBuckets } from "../stats/time-buckets.ts";

const command = "chart";

export const chart = defineCommand({
  name: command,
  kind: "report",
  parse(reader) {
    const read = readChart(reader);
    const { row, bins } = read;
    return { ...read, row: row && { name: row.name, bins: { ...bins, ...row.bins } } };
  },
  async compile({ calls, row, series, options, condition, score }, given, context) {
    const input = expandPrestats(given);
    const by = row === undefined ? [] : [row.name];
    const aggregations = uniqueByName(await resolveColumns(calls, input, context, { command, by }), {
      command,
      by,
    });
    const fields = [row, series].filter((field) => field !== undefined);
    const groups = await Promise.all(fields.map((field) => binGroup(field, input, context)));
    const [rowGroup, seriesGroup] = groups;
    const distinctValues = options.dedup_splitvals ?? false;
    const columnsOf = (form: Relation, from: number) =>
      form.columns.slice(from).map((column, index) => ({ ...column, empty: emptyCell(aggregations[index]) }));
    if (rowGroup === undefined || seriesGroup === undefined) {
      const rows = unnestGroups(input, groups, { distinctValues });
      const site = groupSite(await siteOptions(rows.input, context, aggregations));
      const form = orderByGroups(await groupRows(rows.input, rows.groups, aggregations, site));
      if (options.cont === false || rowGroup?.bins === undefined) return form;
      return fillGaps(tableOf(await context.run(form, MAX_LONG_ROWS), columnsOf(form, 1)), rowGroup);
    }
    const rows = unnestGroups(input, [rowGroup, { ...seriesGroup, optional: true }], { distinctValues });
    const [keys = rowGroup, split = seriesGroup] = rows.groups;
    const site = groupSite(await siteOptions(rows.input, context, aggregations));
    const request = {
      command,
      input: rows.input,
      row: keys,
      series: split,
      aggregations,
      site,
      options,
      condition,
      score,
    };
    const long = await longForm(request, context);
    const table = pivot(command, await context.run(long, MAX_LONG_ROWS), columnsOf(long, 2), options);
    return fillGaps(table, options.cont === false ? { ...rowGroup, bins: undefined } : rowGroup);
  },
});

/** The row field with its bins; each bin becomes a row, with or without events. */
interface BinnedGroup extends Group {
  bins?: "ranges" | TimeBuckets | undefined;
}

/** The table, with rows added for empty bins. */
function fillGaps(table: Table, { name, value, bins }: BinnedGroup): Relation {
  const type = value?.type === "number" ? "number" : "text";
  const key = { name, type, multi: false, groupRank: 0 } as const;
  if (bins === undefined) return relationOf(rowsOfTable(table, key));
  if (bins === "ranges") return relationOf(rowsOfTable(fillRangeGaps(command, table), key));
  const rows = fillTimeGaps(command, table, bins, {}, {});
  if (rows === undefined) {
    throw commandError(command, "The specified span would result in too many (>50000) rows.", "run");
  }
  return relationOf(rowsOfTable(rows, key));
}

/** Default of `bins`. */
const DEFAULT_BINS = 300;

async function binGroup(
  { name, bins: given }: BinnedField,
  input: Relation,
  context: SearchContext,
): Promise<BinnedGroup> {
  const column = columnOf(input, name);
  if (column === undefined) return { name, value: undefined };
  const bins = given.span === undefined ? { bins: DEFAULT_BINS, ...given } : given;
  const { span, minspan, start, end, aligntime } = given;
  const wants = [given.bins, span, minspan, start, end, aligntime].some((given) => given !== undefined);
  if (!wants) return { name, value: fieldValue(column) };
  const value = await binField(name, bins, input, context, command);
  if (value?.type !== "number") return { name, value, ranges: true, bins: "ranges" };
  return { name, value, bins: await timeBucketsOf(bins, input, context, command) };
}
