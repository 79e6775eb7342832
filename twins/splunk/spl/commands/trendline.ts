/** `trendline`: moving averages of fields, in row order. */
import { Slices } from "@offhook/log-store/slices";
import { identifier, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { deferredOf, joinPassthrough, passthroughNames, ROW } from "../relation/deferred-columns.ts";
import { withRowNumber } from "../relation/order.ts";
import { columnOf, extend, fieldValue, type Relation } from "../relation/relation.ts";
import { numberOf, type Typed } from "../relation/typed.ts";
import { commandError } from "../spl-error.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";

interface Trend {
  /** Simple, linearly weighted, or exponential moving average. */
  kind: "sma" | "wma" | "ema";
  /** Window size in rows. */
  period: number;
  field: string;
  as: string;
}

const MIN_PERIOD = 2;
const MAX_PERIOD = 10_000;
/** Rows of an exponential average, which is computed in memory because SQL has no such window. */
const MAX_ROWS = 1_000_000;

export const trendline = defineCommand({
  name: "trendline",
  kind: "stateful",
  parse(reader) {
    const trends: Trend[] = [];
    while (!reader.atEnd()) {
      if (!reader.symbol(",")) trends.push(readTrend(reader));
    }
    if (trends.length === 0) reader.fail("Missing a trend, such as sma5(field).");
    return { trends };
  },
  async compile({ trends }, input, context) {
    let rows = input;
    for (const trend of trends) rows = await withTrend(rows, trend, context);
    return rows;
  },
});

function readTrend(reader: ArgumentReader): Trend {
  const written = reader.field("a trend, such as sma5(field)");
  const [, name = "", digits = "", field = ""] = /^(sma|wma|ema)(\d+)\((.+)\)$/is.exec(written) ?? [];
  const kind = (["sma", "wma", "ema"] as const).find((known) => known === name.toLowerCase());
  if (kind === undefined) return reader.fail(`The trend '${written}' is invalid.`);
  const period = Number(digits);
  if (period < MIN_PERIOD || period > MAX_PERIOD) {
    reader.fail(`The period of '${written}' must be between ${MIN_PERIOD} and ${MAX_PERIOD}.`);
  }
  const as = reader.keyword("as") ? reader.field("a name after AS") : written;
  return { kind, period, field: field.trim().replace(/^"(.*)"$/s, "$1"), as };
}

async function withTrend(input: Relation, trend: Trend, context: SearchContext): Promise<Relation> {
  const column = columnOf(input, trend.field);
  if (column === undefined) return input;
  const rows = withRowNumber(input);
  const number = sql`CAST(${numberOf(fieldValue(column))} AS DOUBLE)`;
  if (trend.kind === "ema") return addExponential(rows, number, trend, context);
  const value: Typed = { type: "number", multi: false, sql: windowAverage(number, trend) };
  return extend(rows, new Map([[trend.as, value]]));
}

/** The average over a window; NULL until the window is full. */
function windowAverage(number: Sql, { kind, period }: Trend): Sql {
  const rows = raw(String(period));
  const window = sql`(ORDER BY "#order0" ROWS ${raw(String(period - 1))} PRECEDING)`;
  const full = sql`count(${number}) OVER ${window} = ${rows}`;
  if (kind === "sma") return sql`CASE WHEN ${full} THEN avg(${number}) OVER ${window} END`;
  const weights = raw(String((period * (period + 1)) / 2));
  return sql`CASE WHEN ${full} THEN ${weightedSum(number, rows, window)} / ${weights} END`;
}

/**
 * The sum of a window's values weighted 1, 2, … from the oldest. Uses plain sums, because a list of values for each row would take many
 * times their memory. Rows are divided into blocks of the window's size, so that positions stay small. The window reaches from the
 * row's block into the preceding one. Relative to the row's position, a value of the own block weighs its position plus the window's
 * size, one of the preceding block just its position.
 */
function weightedSum(number: Sql, rows: Sql, window: Sql): Sql {
  const place = sql`(("#order0" - 1) % ${rows})`;
  const ofBlock = sql`(ORDER BY "#order0" ROWS BETWEEN ${place} PRECEDING AND CURRENT ROW)`;
  return sql`(sum(${number} * ${place}) OVER ${window} + ${rows} * sum(${number}) OVER ${ofBlock} - ${place} * sum(${number}) OVER ${window})`;
}

/** Adds an exponential average: starts with the first value, weighs each next one by 2 / (period + 1). NULL until the window is full. */
async function addExponential(
  rows: Relation,
  number: Sql,
  trend: Trend,
  context: SearchContext,
): Promise<Relation> {
  const deferred = deferredOf(rows);
  const place = deferred === undefined ? raw('"#order0"') : identifier(ROW);
  const narrow: Relation = {
    select: sql`SELECT ${place} AS "#place", ${number} AS "#number", "#order0" FROM (${rows.select}) AS r`,
    columns: ["#place", "#number"].map((name) => ({ name, column: name, type: "number", multi: false })),
    order: rows.order,
    kind: "report",
  };
  const found = await context.run(narrow, MAX_ROWS + 1);
  if (found.rows.length > MAX_ROWS) {
    throw commandError("trendline", `An exponential average is of ${MAX_ROWS} rows at most.`, "run");
  }
  const averages = await exponentialAverages(found.rows, trend, context);
  const [column = "#average"] = deferred === undefined ? [] : passthroughNames(deferred, 1);
  const select = sql`SELECT r.*, p."#average" AS ${identifier(column)} FROM (${rows.select}) AS r JOIN (${averages}) AS p ON r.${place} = p."#place"`;
  const value: Typed = { type: "number", multi: false, sql: identifier(column) };
  const deferral =
    deferred === undefined ? { select } : { select, deferred: joinPassthrough(deferred, select, [column]) };
  return extend({ ...rows, ...deferral }, new Map([[trend.as, value]]));
}

/** Rows between checks whether to yield to other work. */
const BATCH_ROWS = 1_000;

/** The average for each row, computed in slices. */
async function exponentialAverages(
  rows: readonly (readonly ResultValue[])[],
  { period }: Trend,
  context: SearchContext,
): Promise<Sql> {
  const weight = 2 / (period + 1);
  let average: number | undefined;
  let seen = 0;
  const averageAt = (next: ResultValue | undefined) => {
    if (typeof next !== "number") return null;
    average = average === undefined ? next : weight * next + (1 - weight) * average;
    seen++;
    return seen < period ? null : average;
  };
  const slices = new Slices();
  const places: string[] = [];
  const averages: string[] = [];
  for (let from = 0; from < rows.length; from += BATCH_ROWS) {
    const some = rows.slice(from, from + BATCH_ROWS);
    places.push(jsonItems(some.map(([place = null]) => place)));
    averages.push(jsonItems(some.map(([, next]) => averageAt(next))));
    if (!slices.over) continue;
    await slices.next();
    context.throwIfOver();
  }
  return sql`SELECT unnest(from_json(${`[${places.join(",")}]`}, '["BIGINT"]')) AS "#place", unnest(from_json(${`[${averages.join(",")}]`}, '["DOUBLE"]')) AS "#average"`;
}

/** JSON without the brackets. */
function jsonItems(values: readonly ResultValue[]): string {
  return JSON.stringify(values).slice(1, -1);
}
