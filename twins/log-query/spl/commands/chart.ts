/** `chart`: aggregates as a table of one field by another. */
import { defineCommand } from "../command.ts";
import { columnOf, fieldValue, type Relation } from "../relation.ts";
import { relationOf } from "../rows.ts";
import type { SearchContext } from "../search-context.ts";
import { distinct } from "../stats/aggregation.ts";
import { binned } from "../stats/bin-options.ts";
import { type BinnedField, readChart } from "../stats/chart-arguments.ts";
import { resolveColumns } from "../stats/computed.ts";
import { emptyCell } from "../stats/empty-cell.ts";
import { type Group, grouped, inGroupOrder, unrolled } from "../stats/group.ts";
import { asRows, LONGEST_FORM, pivoted } from "../stats/pivot.ts";
import { siteOptions } from "../stats/row-time.ts";
import { longForm } from "../stats/series.ts";
import { groupSite } from "../stats/site.ts";

export const chart = defineCommand({
  name: "chart",
  kind: "report",
  parse(reader) {
    const read = readChart(reader);
    const { row, bins } = read;
    return { ...read, row: row && { name: row.name, bins: { ...bins, ...row.bins } } };
  },
  async compile({ calls, row, series, options, condition, score }, input, context) {
    const command = "chart";
    const by = row === undefined ? [] : [row.name];
    const aggregations = distinct(await resolveColumns(calls, input, context, { command, by }), {
      command,
      by,
    });
    const fields = [row, series].filter((field) => field !== undefined);
    const groups = await Promise.all(fields.map((field) => groupOf(field, input, context, command)));
    const [rowGroup, seriesGroup] = groups;
    const distinctValues = options.dedup_splitvals ?? false;
    if (rowGroup === undefined || seriesGroup === undefined) {
      const rows = unrolled(input, groups, { distinctValues });
      const site = groupSite(await siteOptions(rows.input, context, aggregations));
      return inGroupOrder(await grouped(rows.input, rows.groups, aggregations, site));
    }
    const rows = unrolled(input, [rowGroup, { ...seriesGroup, optional: true }], { distinctValues });
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
    const columns = long.columns
      .slice(2)
      .map((column, index) => ({ ...column, empty: emptyCell(aggregations[index]) }));
    const table = pivoted("chart", await context.run(long, LONGEST_FORM), columns, options);
    const type = keys.value?.type === "number" ? "number" : "text";
    return relationOf(asRows(table, { name: keys.name, type, multi: false, groupRank: 0 }));
  },
});

async function groupOf(
  { name, bins }: BinnedField,
  input: Relation,
  context: SearchContext,
  command: string,
): Promise<Group> {
  const column = columnOf(input, name);
  if (column === undefined) return { name, value: undefined };
  const { span, minspan, start, end, aligntime } = bins;
  const wants = [bins.bins, span, minspan, start, end, aligntime].some((given) => given !== undefined);
  if (!wants) return { name, value: fieldValue(column) };
  return { name, value: await binned(name, bins, input, context, command) };
}
