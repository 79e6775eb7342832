/** Rows of `chart` and `timechart` in their long form: one for each row and series of the table to be. */
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
import { type Group, type Grouped, grouped, groupOrder } from "./group.ts";
import type { Selection, SeriesCondition, SeriesOptions } from "./series-options.ts";
import type { Site } from "./site.ts";

export const DEFAULT_SERIES = 10;

export interface SeriesRequest {
  command: string;
  input: Relation;
  row: Group;
  series: Group;
  aggregations: readonly Aggregation[];
  site: Site;
  options: SeriesOptions;
  condition: SeriesCondition | undefined;
  /** `agg=max`: by what series are chosen. */
  score: string | undefined;
}

/** Aggregates of DuckDB by which series can be chosen. */
const scores = lookupTable<string>({
  ...{ sum: "fsum", avg: "favg", mean: "favg", min: "min", max: "max", count: "count", c: "count" },
  ...{ stdev: "stddev_samp", stdevp: "stddev_pop", var: "var_samp", varp: "var_pop", median: "median" },
});

/** Aggregates whose parts put together again are aggregates, and by what. */
const folds = lookupTable<string>({
  ...{ count: "fsum", c: "fsum", sum: "fsum", sumsq: "fsum", min: "min", max: "max" },
  ...{ per_second: "fsum", per_minute: "fsum", per_hour: "fsum", per_day: "fsum" },
});

/** The row's key, the name of its series, and the aggregates; in the order of the keys. */
export async function longForm(request: SeriesRequest, context: SearchContext): Promise<Relation> {
  const { input, row, aggregations, site, options } = request;
  const { usenull = true, nullstr = "NULL" } = options;
  const text =
    request.series.value === undefined ? raw("CAST(NULL AS VARCHAR)") : textOf(request.series.value);
  const selection = selectionOf(request);
  const series = (value: Sql, optional = true): Group => ({
    name: request.series.name,
    value: { type: "text", multi: false, sql: value },
    optional,
  });
  const named = (value: Sql) => (usenull ? sql`coalesce(${value}, ${nullstr})` : value);
  if (selection === undefined) {
    return asLong(await grouped(input, [row, series(named(text), false)], aggregations, site));
  }
  const added = addedMeasures(aggregations);
  const parts = await grouped(input, [row, series(text)], [...aggregations, ...added], site);
  const weights: readonly Aggregation[] = weighted(aggregations);
  const chosen = ranked(parts, selection, aggregations.length);
  const items = aggregations.map((aggregation, index) =>
    folded(aggregation, index, parts, aggregations.length + 1 + weights.indexOf(aggregation)),
  );
  const folds = items.filter((item) => item !== undefined);
  if (folds.length === items.length) return asLong(together(chosen, parts, folds, options));
  const { found, kept } = await partsWith(chosen, parts, aggregations.length, context);
  const shown = found && relabelled(found, options);
  if (shown !== undefined) return relationOf(shown);
  const names = jsonParameter(kept);
  const isNamed = sql`list_contains(from_json(${names}, '["VARCHAR"]'), ${text})`;
  return asLong(
    await grouped(input, [row, series(label(text, isNamed, options), false)], aggregations, site),
  );
}

/** Parts that are looked at here; of more, the names of the series alone. */
const MOST_PARTS = 20_000;

/**
 * The parts, each with the name of its series and at last whether that is kept, where they are few; and the names of the series that
 * are kept.
 */
async function partsWith(chosen: Sql, parts: Grouped, count: number, context: SearchContext) {
  const few = { ...parts, aggregates: parts.aggregates.slice(0, count), select: chosen };
  const kept = { name: "#kept", column: "#kept", type: "number", multi: false } as const;
  const long = asLong({
    ...few,
    select: sql`SELECT * REPLACE (CAST("#kept" AS BIGINT) AS "#kept") FROM (${chosen}) AS r`,
  });
  const found = await context.run({ ...long, columns: [...long.columns, kept] }, MOST_PARTS + 1);
  if (found.rows.length <= MOST_PARTS) {
    const names = found.rows.flatMap((cells) => (cells.at(-1) === 1 ? [String(cells[1])] : []));
    return { found, kept: [...new Set(names)] };
  }
  const column = { name: "name", column: "name", type: "text", multi: false } as const;
  const select = sql`SELECT DISTINCT "#g1" AS name FROM (${chosen}) AS r WHERE "#kept"`;
  const { rows } = await context.run({ select, columns: [column], order: [], kind: "report" }, MAX_KEPT);
  return { found: undefined, kept: rows.map(([name]) => String(name)) };
}

/** The parts as they are shown; `undefined` where some of them have to be put together, which their rows alone can be. */
function relabelled(
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

const MAX_KEPT = 100_000;

function selectionOf({ options, condition, aggregations, score, command }: SeriesRequest) {
  const given = options.limit ?? { kind: "rank", end: "top", count: DEFAULT_SERIES, inside: true };
  const chosen = condition ?? (given === "all" ? undefined : { score: score ?? "sum", selection: given });
  if (chosen === undefined) return undefined;
  const name = scores[chosen.score];
  if (name === undefined) {
    throw commandError(command, `Series cannot be chosen by '${chosen.score}'.`, "run");
  }
  const counts = aggregations.length > 1 && condition === undefined && score === undefined;
  return { selection: chosen.selection, name, counts };
}

type Chosen = Exclude<ReturnType<typeof selectionOf>, undefined>;

/** How many rows a series has, by which it is chosen where there are several aggregates; then how many numbers averages are of. */
function addedMeasures(aggregations: readonly Aggregation[]): Aggregation[] {
  const counted = (name: string, value: Sql): Aggregation => ({
    kind: "computed",
    name,
    measures: [],
    compile: async (): Promise<Typed> => ({ type: "number", multi: false, sql: value }),
  });
  return [
    counted("#rows", raw("count(*)")),
    ...weighted(aggregations).map(({ value }, index) => counted(`#weight${index}`, sql`count(${value.sql})`)),
  ];
}

/** Averages of fields that hold nothing but numbers. */
function weighted(aggregations: readonly Aggregation[]): Measure[] {
  return aggregations.filter(
    (one): one is Measure =>
      one.kind === "measure" &&
      one.found.declared.name === "avg" &&
      one.value.type === "number" &&
      !one.value.multi,
  );
}

/** The parts, with whether their series is kept. They are made once: a window over them would have DuckDB make them twice. */
function ranked(parts: Grouped, { selection, name, counts }: Chosen, countIndex: number): Sql {
  const measured = parts.aggregates[counts ? countIndex : 0]?.value;
  const value = measured === undefined ? raw("0") : numberOf(measured);
  const score = sql`coalesce(${raw(counts ? "fsum" : name)}(CAST(${value} AS DOUBLE)), 0)`;
  const series = sql`SELECT "#g1" AS "#name", ${score} AS "#score" FROM "#parts" GROUP BY 1`;
  const kept = sql`SELECT "#name", ("#name" IS NOT NULL AND ${isKept(selection)}) AS "#kept" FROM (${series}) AS r`;
  return sql`WITH "#parts" AS MATERIALIZED (${parts.select}) SELECT p.*, k."#kept" FROM "#parts" AS p JOIN (${kept}) AS k ON p."#g1" IS NOT DISTINCT FROM k."#name"`;
}

/** Of a series with its `#score`. */
function isKept(selection: Selection): Sql {
  if (selection.kind === "threshold") {
    return sql`"#score" ${raw(selection.comparator)} CAST(${selection.value} AS DOUBLE)`;
  }
  const direction = raw(selection.end === "top" ? "DESC" : "ASC");
  const rank = sql`row_number() OVER (ORDER BY "#name" IS NULL, "#score" ${direction}, "#name")`;
  const inside = sql`(${rank} <= CAST(${selection.count} AS BIGINT))`;
  return selection.inside ? inside : sql`NOT ${inside}`;
}

/** The name of a series; NULL for one that is not shown. */
function label(
  text: Sql,
  kept: Sql,
  { useother = true, usenull = true, otherstr = "OTHER", nullstr = "NULL" }: SeriesOptions,
): Sql {
  const missing = usenull ? sql`CAST(${nullstr} AS VARCHAR)` : raw("NULL");
  const other = useother ? sql`CAST(${otherstr} AS VARCHAR)` : raw("NULL");
  return sql`CASE WHEN ${text} IS NULL THEN ${missing} WHEN ${kept} THEN ${text} ELSE ${other} END`;
}

/** An aggregate of the parts that is that of all their rows; `undefined` when there is none. */
function folded(aggregation: Aggregation, index: number, parts: Grouped, weight: number): Sql | undefined {
  const value = parts.aggregates[index]?.value;
  if (aggregation.kind !== "measure" || value?.type !== "number" || value.multi) return undefined;
  const column = identifier(`#a${index}`);
  const fold = folds[aggregation.call.name];
  if (fold !== undefined) return sql`${raw(fold)}(${column}) AS ${column}`;
  if (weighted([aggregation]).length === 0) return undefined;
  const weights = identifier(`#a${weight}`);
  return sql`(fsum(${column} * ${weights}) / nullif(fsum(${weights}), 0)) AS ${column}`;
}

/** Parts of the series that are not shown by name, put together. */
function together(chosen: Sql, parts: Grouped, items: readonly Sql[], options: SeriesOptions): Grouped {
  const name = label(raw('"#g1"'), raw('"#kept"'), options);
  const named = sql`SELECT * REPLACE (${name} AS "#g1") FROM (${chosen}) AS r`;
  return {
    ...parts,
    aggregates: parts.aggregates.slice(0, items.length),
    select: sql`SELECT "#g0", "#g1", ${joined(items, ", ")} FROM (${named}) AS r WHERE "#g1" IS NOT NULL GROUP BY 1, 2`,
  };
}

/** In the order of the row's key and the series' name. */
function asLong({ select, groups, aggregates }: Grouped): Relation {
  const keys = [...groups.slice(0, 1).flatMap(groupOrder), raw('"#g1"')];
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
