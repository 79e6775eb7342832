/** The long form of `chart` and `timechart`: one row for each row and series of the future table. */
import { identifier, joined, jsonParameter, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { SearchContext } from "../context/search-context.ts";
import type { Relation } from "../relation/relation.ts";
import type { Rows } from "../relation/rows.ts";
import { relationOf } from "../relation/rows.ts";
import { numberOf, type Typed, textOf } from "../relation/typed.ts";
import { commandError } from "../spl-error.ts";
import type { Aggregation, Measure } from "./aggregation.ts";
import { type Group, type GroupedRows, groupOrderKeys, groupRows } from "./group.ts";
import type { Selection, SeriesCondition, SeriesOptions } from "./series-options.ts";
import type { Site } from "./site.ts";

const DEFAULT_SERIES = 10;

export interface SeriesRequest {
  command: string;
  input: Relation;
  row: Group;
  series: Group;
  aggregations: readonly Aggregation[];
  site: Site;
  options: SeriesOptions;
  condition: SeriesCondition | undefined;
  /** `agg=max`: the aggregate that ranks series. */
  score: string | undefined;
}

/** DuckDB's aggregates that can rank series. */
const scoreFunctions = lookupTable<string>({
  ...{ sum: "fsum", avg: "favg", mean: "favg", min: "min", max: "max", count: "count", c: "count" },
  ...{ stdev: "stddev_samp", stdevp: "stddev_pop", var: "var_samp", varp: "var_pop", median: "median" },
});

/** Aggregates that can be computed from partial ones, with the DuckDB function that combines these. */
const foldFunctions = lookupTable<string>({
  ...{ count: "fsum", c: "fsum", sum: "fsum", sumsq: "fsum", min: "min", max: "max" },
  ...{ per_second: "fsum", per_minute: "fsum", per_hour: "fsum", per_day: "fsum" },
});

/** Row key, series name and aggregates, ordered by key. */
export async function longForm(request: SeriesRequest, context: SearchContext): Promise<Relation> {
  const { input, row, aggregations, site, options } = request;
  const { usenull = true, nullstr = "NULL" } = options;
  const text =
    request.series.value === undefined ? raw("CAST(NULL AS VARCHAR)") : textOf(request.series.value);
  const selection = selectionOf(request);
  const series = (value: Sql, { optional }: { optional: boolean }): Group => ({
    name: request.series.name,
    value: { type: "text", multi: false, sql: value },
    optional,
  });
  const named = (value: Sql) => (usenull ? sql`coalesce(${value}, ${nullstr})` : value);
  if (selection === undefined) {
    return longRelation(
      await groupRows(input, [row, series(named(text), { optional: false })], aggregations, site),
    );
  }
  const added = extraMeasures(aggregations);
  const parts = await groupRows(
    input,
    [row, series(text, { optional: true })],
    [...aggregations, ...added],
    site,
  );
  const weights: readonly Aggregation[] = weightedAverages(aggregations);
  const chosen = rankSeries(parts, selection, aggregations.length);
  const items = aggregations.map((aggregation, index) =>
    foldAggregate(aggregation, index, parts, aggregations.length + 1 + weights.indexOf(aggregation)),
  );
  const folded = items.filter((item) => item !== undefined);
  if (folded.length === items.length) return longRelation(mergeSeries(chosen, parts, folded, options));
  const { found, selected } = await runParts(chosen, parts, aggregations.length, context);
  const rows = found && nameSeries(found, options);
  if (rows !== undefined) return relationOf(rows);
  const names = jsonParameter(selected);
  const isNamed = sql`list_contains(from_json(${names}, '["VARCHAR"]'), ${text})`;
  return longRelation(
    await groupRows(
      input,
      [row, series(seriesName(text, isNamed, options), { optional: false })],
      aggregations,
      site,
    ),
  );
}

/** Partial aggregates that are fetched; beyond it, only the names of the selected series are. */
const MAX_PARTS = 20_000;

/**
 * Fetches the partial aggregates if they are few, each with its series' name and, as last cell, whether that series is selected;
 * and the names of the selected series.
 */
async function runParts(chosen: Sql, parts: GroupedRows, count: number, context: SearchContext) {
  const few = { ...parts, aggregates: parts.aggregates.slice(0, count), select: chosen };
  const isSelectedColumn = { name: "#kept", column: "#kept", type: "number", multi: false } as const;
  const long = longRelation({
    ...few,
    select: sql`SELECT * REPLACE (CAST("#kept" AS BIGINT) AS "#kept") FROM (${chosen}) AS r`,
  });
  const found = await context.run({ ...long, columns: [...long.columns, isSelectedColumn] }, MAX_PARTS + 1);
  if (found.rows.length <= MAX_PARTS) {
    const names = found.rows.flatMap((cells) => (cells.at(-1) === 1 ? [String(cells[1])] : []));
    return { found, selected: [...new Set(names)] };
  }
  const column = { name: "name", column: "name", type: "text", multi: false } as const;
  const select = sql`SELECT DISTINCT "#g1" AS name FROM (${chosen}) AS r WHERE "#kept"`;
  const { rows } = await context.run({ select, columns: [column], order: [], kind: "report" }, MAX_SELECTED);
  return { found: undefined, selected: rows.map(([name]) => String(name)) };
}

/** The result made from fetched parts; `undefined` when some would have to be merged, which takes their rows. */
function nameSeries(
  { fields, rows }: Rows,
  { useother = true, usenull = true, nullstr = "NULL" }: SeriesOptions,
): Rows | undefined {
  const isOther = (cells: readonly ResultValue[]) => cells[1] !== null && cells.at(-1) === 0;
  const isMissing = (cells: readonly ResultValue[]) => cells[1] === null;
  const named = rows.filter((cells) => !isOther(cells));
  const isClear = !usenull || named.every((cells) => cells[1] !== nullstr) || !named.some(isMissing);
  if ((useother && named.length < rows.length) || !isClear) return undefined;
  const shown = usenull ? named : named.filter((cells) => !isMissing(cells));
  return {
    fields: fields.slice(0, -1),
    rows: shown.map(([key = null, series = null, ...values]) => [
      key,
      series ?? nullstr,
      ...values.slice(0, -1),
    ]),
  };
}

const MAX_SELECTED = 100_000;

function selectionOf({ options, condition, aggregations, score, command }: SeriesRequest) {
  const given = options.limit ?? { kind: "rank", end: "top", count: DEFAULT_SERIES, inside: true };
  const chosen = condition ?? (given === "all" ? undefined : { score: score ?? "sum", selection: given });
  if (chosen === undefined) return undefined;
  const name = scoreFunctions[chosen.score];
  if (name === undefined) {
    throw commandError(command, `Series cannot be chosen by '${chosen.score}'.`, "run");
  }
  const counts = aggregations.length > 1 && condition === undefined && score === undefined;
  return { selection: chosen.selection, name, counts };
}

type Chosen = Exclude<ReturnType<typeof selectionOf>, undefined>;

/** Extra aggregates: the row count that ranks series when there are several aggregates, and the weights of averages. */
function extraMeasures(aggregations: readonly Aggregation[]): Aggregation[] {
  const counted = (name: string, value: Sql): Aggregation => ({
    kind: "computed",
    name,
    measures: [],
    compile: async (): Promise<Typed> => ({ type: "number", multi: false, sql: value }),
  });
  return [
    counted("#rows", raw("count(*)")),
    ...weightedAverages(aggregations).map(({ value }, index) =>
      counted(`#weight${index}`, sql`count(${value.sql})`),
    ),
  ];
}

/** Averages of purely numeric fields: they combine as weighted averages. */
function weightedAverages(aggregations: readonly Aggregation[]): Measure[] {
  return aggregations.filter(
    (one): one is Measure =>
      one.kind === "measure" &&
      one.found.declared.name === "avg" &&
      one.value.type === "number" &&
      !one.value.multi,
  );
}

/** Marks each part with whether its series is selected. Materialized, because a window would make DuckDB compute the parts twice. */
function rankSeries(parts: GroupedRows, { selection, name, counts }: Chosen, countIndex: number): Sql {
  const measured = parts.aggregates[counts ? countIndex : 0]?.value;
  const value = measured === undefined ? raw("0") : numberOf(measured);
  const score = sql`coalesce(${raw(counts ? "fsum" : name)}(CAST(${value} AS DOUBLE)), 0)`;
  const series = sql`SELECT "#g1" AS "#name", ${score} AS "#score" FROM "#parts" GROUP BY 1`;
  const selected = sql`SELECT "#name", ("#name" IS NOT NULL AND ${isSelected(selection)}) AS "#kept" FROM (${series}) AS r`;
  return sql`WITH "#parts" AS MATERIALIZED (${parts.select}) SELECT p.*, k."#kept" FROM "#parts" AS p JOIN (${selected}) AS k ON p."#g1" IS NOT DISTINCT FROM k."#name"`;
}

/** Whether a series is selected, over its `#score`. */
function isSelected(selection: Selection): Sql {
  if (selection.kind === "threshold") {
    return sql`"#score" ${raw(selection.comparator)} CAST(${selection.value} AS DOUBLE)`;
  }
  const direction = raw(selection.end === "top" ? "DESC" : "ASC");
  const rank = sql`row_number() OVER (ORDER BY "#name" IS NULL, "#score" ${direction}, "#name")`;
  const inside = sql`(${rank} <= CAST(${selection.count} AS BIGINT))`;
  return selection.inside ? inside : sql`NOT ${inside}`;
}

/** The displayed name of a series; NULL when it is not shown. */
function seriesName(
  text: Sql,
  selected: Sql,
  { useother = true, usenull = true, otherstr = "OTHER", nullstr = "NULL" }: SeriesOptions,
): Sql {
  const missing = usenull ? sql`CAST(${nullstr} AS VARCHAR)` : raw("NULL");
  const other = useother ? sql`CAST(${otherstr} AS VARCHAR)` : raw("NULL");
  return sql`CASE WHEN ${text} IS NULL THEN ${missing} WHEN ${selected} THEN ${text} ELSE ${other} END`;
}

/** Combines partial aggregates into that of all rows; `undefined` when the aggregate cannot be combined. */
function foldAggregate(
  aggregation: Aggregation,
  index: number,
  parts: GroupedRows,
  weight: number,
): Sql | undefined {
  const value = parts.aggregates[index]?.value;
  if (aggregation.kind !== "measure" || value?.type !== "number" || value.multi) return undefined;
  const column = identifier(`#a${index}`);
  const fold = foldFunctions[aggregation.call.name];
  if (fold !== undefined) return sql`${raw(fold)}(${column}) AS ${column}`;
  if (weightedAverages([aggregation]).length === 0) return undefined;
  const weights = identifier(`#a${weight}`);
  return sql`(fsum(${column} * ${weights}) / nullif(fsum(${weights}), 0)) AS ${column}`;
}

/** Merges the parts of all series that are not shown by name. */
function mergeSeries(
  chosen: Sql,
  parts: GroupedRows,
  items: readonly Sql[],
  options: SeriesOptions,
): GroupedRows {
  const name = seriesName(raw('"#g1"'), raw('"#kept"'), options);
  const named = sql`SELECT * REPLACE (${name} AS "#g1") FROM (${chosen}) AS r`;
  return {
    ...parts,
    aggregates: parts.aggregates.slice(0, items.length),
    select: sql`SELECT "#g0", "#g1", ${joined(items, ", ")} FROM (${named}) AS r WHERE "#g1" IS NOT NULL GROUP BY 1, 2`,
  };
}

/** The groups as a relation, ordered by row key and series name. */
function longRelation({ select, groups, aggregates }: GroupedRows): Relation {
  const keys = [...groups.slice(0, 1).flatMap(groupOrderKeys), raw('"#g1"')];
  const items = keys.map((key, index) => sql`${key} AS ${identifier(`#order${index}`)}`);
  const columns = [...groups, ...aggregates].map(({ value, name }, index) => ({
    name,
    column: index < groups.length ? `#g${index}` : `#a${index - groups.length}`,
    type: value.type === "number" ? ("number" as const) : ("text" as const),
    multi: value.multi,
  }));
  return {
    select: sql`SELECT *, ${joined(items, ", ")} FROM (${select}) AS r`,
    columns,
    order: keys.map((_, index) => ({ column: `#order${index}`, direction: "ASC" as const })),
    kind: "report",
  };
}
