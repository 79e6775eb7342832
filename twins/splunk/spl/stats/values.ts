/** The values that an aggregate covers; each value of a multi-value counts separately. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { bindOnce, lambdaParameter, mapList, numberOf, type Typed, textOf } from "../relation/typed.ts";
import type { RowOrder, Site } from "./site.ts";

export interface Values {
  readonly type: "text" | "number";
  /** The number of values: BIGINT. */
  readonly count: Sql;
  /** The number of values that are no numbers. */
  readonly others: Sql;
  /** Applies an aggregate of DuckDB to the values as numbers, DOUBLE; other values are ignored. */
  onNumbers(name: string, parameter?: Sql): Sql;
  /** Sum of squares of the numeric values. */
  readonly sumOfSquares: Sql;
  /** Applies an aggregate of DuckDB to the values as texts. */
  onTexts(name: string): Sql;
  /** Distinct values as texts; NULL when there are none. */
  readonly distinct: Sql;
  readonly distinctCount: Sql;
  /** The first values in row order, as texts; NULL when there are none. */
  inOrder(limit: number): Sql;
  /** The first (or last) value, in its own type. */
  at(end: "first" | "last", order: RowOrder): Sql;
  /** The least or greatest of the numeric values, in its own type. */
  extreme(end: "least" | "greatest"): Sql;
  /** The time of the first or last row that has a value. */
  time(end: "first" | "last"): Sql;
}

/** @param value of type boolean: rows where it is true count */
export function valuesOf(value: Typed, site: Site): Values {
  const known: Typed =
    value.type === "boolean"
      ? { type: "number", multi: false, sql: sql`CASE WHEN ${value.sql} THEN 1 END` }
      : value;
  return known.multi ? multiValues(known, site) : singleValues(known, site);
}

/** Aggregates that are as exact on whole numbers, and faster. */
const wholeNumberAggregates = lookupTable<string>({ fsum: "sum", favg: "avg" });

function singleValues(value: Typed, site: Site): Values {
  const type = value.type === "number" ? "number" : "text";
  const text = textOf(value);
  const double = type === "number" ? sql`CAST(${value.sql} AS DOUBLE)` : numberOf(value);
  const count = site.call(sql`count(${value.sql})`);
  return {
    type,
    count,
    others: type === "number" ? raw("0") : sql`(${count} - ${site.call(sql`count(${double})`)})`,
    onNumbers(name, parameter) {
      const exact = value.integer && wholeNumberAggregates[name];
      if (exact) return sql`CAST(${site.call(sql`${raw(exact)}(${value.sql})`)} AS DOUBLE)`;
      return site.call(
        parameter === undefined ? sql`${raw(name)}(${double})` : sql`${raw(name)}(${double}, ${parameter})`,
      );
    },
    sumOfSquares: site.call(sql`fsum(${double} * ${double})`),
    onTexts: (name) => site.call(sql`${raw(name)}(${text})`),
    // Converts to text after DISTINCT, when there are fewer values.
    distinct: textsOf(value, site.call(sql`list(DISTINCT ${value.sql})`, sql`${value.sql} IS NOT NULL`)),
    distinctCount: site.call(sql`count(DISTINCT ${value.sql})`),
    inOrder: (limit) => textsOf(value, sql`${site.inOrder(value.sql)}[1:${raw(String(limit))}]`),
    at: (end, order) => site.at(end, value.sql, order),
    extreme(end) {
      const name = raw(end === "least" ? "min" : "max");
      if (type === "number") return site.call(sql`${name}(${value.sql})`);
      const key = sql`{'number': ${double}, 'text': ${value.sql}}`;
      return sql`(${site.call(sql`${name}(${key})`, sql`${double} IS NOT NULL`)}).text`;
    },
    time: (end) =>
      site.call(sql`${raw(end === "first" ? "min" : "max")}(${site.time})`, sql`${value.sql} IS NOT NULL`),
  };
}

function multiValues(value: Typed, site: Site): Values {
  const type = value.type === "number" ? "number" : "text";
  const has = sql`${value.sql} IS NOT NULL`;
  const all = sql`flatten(${site.call(sql`list(${value.sql})`, has)})`;
  return {
    ...listValues(type, all),
    count: sql`coalesce(${site.call(sql`sum(len(${value.sql}))`)}, 0)`,
    inOrder: (limit) =>
      textsOf({ ...value, multi: false }, sql`flatten(${site.inOrder(value.sql)})[1:${raw(String(limit))}]`),
    at(end, order) {
      // Within a row, the first value counts as the latest, as among rows.
      const first = (order === "rows") === (end === "first");
      return bindOnce(site.at(end, value.sql, order), (list) => sql`${list}[${raw(first ? "1" : "-1")}]`);
    },
    time: (end) => site.call(sql`${raw(end === "first" ? "min" : "max")}(${site.time})`, has),
  };
}

/** The values of a LIST; `at` and `time` would need rows. */
export function listValues(type: "text" | "number", all: Sql): Omit<Values, "at" | "time"> {
  const one = (element: Sql): Typed => ({ type, multi: false, sql: element });
  const texts = type === "text" ? all : mapList(all, (element) => textOf(one(element)));
  const numbers = mapList(all, (element) => sql`CAST(${numberOf(one(element))} AS DOUBLE)`);
  const count = sql`coalesce(list_aggregate(${all}, 'count'), 0)`;
  return {
    type,
    count,
    others: type === "number" ? raw("0") : sql`(${count} - coalesce(list_aggregate(${numbers}, 'count'), 0))`,
    onNumbers(name, parameter) {
      const args = [numbers, raw(`'${name}'`), ...(parameter === undefined ? [] : [parameter])];
      const aggregate = sql`list_aggregate(${joined(args, ", ")})`;
      return name === "count" ? sql`coalesce(${aggregate}, 0)` : aggregate;
    },
    sumOfSquares: sql`list_aggregate(${mapList(numbers, (element) => sql`${element} * ${element}`)}, 'fsum')`,
    onTexts: (name) => sql`list_aggregate(${texts}, ${raw(`'${name}'`)})`,
    distinct: sql`list_distinct(${texts})`,
    distinctCount: sql`coalesce(list_unique(${all}), 0)`,
    inOrder: (limit) => sql`${texts}[1:${raw(String(limit))}]`,
    extreme(end) {
      const name = raw(end === "least" ? "'min'" : "'max'");
      if (type === "number") return sql`list_aggregate(${all}, ${name})`;
      const keyed = mapList(all, (element) => sql`{'number': ${numberOf(one(element))}, 'text': ${element}}`);
      const candidate = lambdaParameter();
      const known = sql`list_filter(${keyed}, lambda ${candidate}: ${candidate}.number IS NOT NULL)`;
      return sql`(list_aggregate(${known}, ${name})).text`;
    },
  };
}

/** Converts the values of a LIST to texts. */
function textsOf({ type }: Typed, list: Sql): Sql {
  return type === "text" ? list : mapList(list, (element) => textOf({ type, multi: false, sql: element }));
}
