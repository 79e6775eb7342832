/** The rows between two commands of a pipeline: a SELECT, what its columns are, and their order. */
import { columnsIfRead } from "../../datasets/needed-columns.ts";
import { identifier, joined, raw, type Sql, sql } from "../../datasets/sql.ts";
import {
  carriedItems,
  carrying,
  dependsOnOthers,
  type Late,
  lateOf,
  otherColumns,
  sameColumns,
  wholeRows,
} from "./late-columns.ts";
import type { TimeRange } from "./search-context.ts";
import type { Expression } from "./syntax/ast.ts";
import { numberOf, type Typed, textOf } from "./typed.ts";

export interface Column {
  /** The field: case counts, any characters. */
  readonly name: string;
  /** Its column in `select`; see `placed`. */
  readonly column: string;
  readonly type: "text" | "number";
  readonly multi: boolean;
  /** As `Typed` has it. */
  readonly whole?: true;
  /** Position among the BY fields, from 0, when it is one of a report. */
  readonly groupRank?: number;
  /** What results show in its place (`fieldformat`); see `eval/displayed.ts`. */
  readonly display?: Expression;
  /** What `nomv` puts between the values; a line feed when absent. */
  readonly delimiter?: string;
}

export interface OrderKey {
  /** A column of `select` that is no field: `#order0`, … */
  readonly column: string;
  readonly direction: "ASC" | "DESC";
  /** Where rows without a value come; last when absent. */
  readonly nulls?: "first";
  /** Whether it tells each row from all others, and none is without it: the number of an event in the store. */
  readonly unique?: true;
}

export interface Relation {
  /** Gives the columns of `columns` and of `order`; its own order says nothing. */
  readonly select: Sql;
  /** In the order in which results show them. */
  readonly columns: readonly Column[];
  /** Most important first. Rows that agree in all keys may come in any order, so that there should be none. */
  readonly order: readonly OrderKey[];
  /** Each row is an event of the store, so that there may be very many. */
  readonly ofEvents?: true;
  /** How columns are made of single rows, once it is known which rows they are; see `late-columns.ts`. */
  readonly late?: Late;
  /** How many rows there can be, when that is known. */
  readonly atMost?: number;
  /** Whether rows still are events (they have `_raw`), or a transforming command has made a report of them. */
  readonly kind: "events" | "report";
  /** The times in which its events were looked for, when the search has said so itself; else they are the request's. */
  readonly range?: TimeRange;
}

/** A field of a row to be. */
export interface Output {
  name: string;
  value: Typed;
  groupRank?: number;
  display?: Expression;
  delimiter?: string;
}

/** The field of a name. `a{}.b` and `a{}`, as SPL calls what is in a list of JSON, are also the multi-values `a.b` and `a`. */
export function columnOf({ columns }: Relation, name: string): Column | undefined {
  const named = columns.find((column) => column.name === name);
  if (named !== undefined || !name.includes("{}")) return named;
  const plain = name.replaceAll("{}", "");
  return columns.find((column) => column.multi && column.name === plain);
}

/** The field's value in `(select) AS r`. */
export function fieldValue({ column, type, multi, whole }: Column): Typed {
  return { type, multi, sql: identifier(column), ...(whole && { whole }) };
}

/** Names for columns: a field's own, or with `~n` after it where case alone tells it from one before. DuckDB's names ignore case. */
export function placed(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let column = name === "" ? "~" : name;
    for (let n = 1; taken.has(column.toLowerCase()); n++) column = `${name}~${n}`;
    taken.add(column.toLowerCase());
    return column;
  });
}

/** Other columns of the same rows, in the same order. Expressions read `input`'s columns. */
export function project(input: Relation, outputs: readonly Output[], kind = input.kind): Relation {
  const { range, ofEvents, atMost } = input;
  const { select, late, values } = alone(input, outputs);
  const result = selected(select, values, input.order, kind, carriedItems(late));
  const items = result.columns.map(({ column }, index) => ({ column, value: expressionOf(values[index]) }));
  return {
    ...result,
    ...otherColumns(late, result.select, items),
    ...(range === undefined ? {} : { range }),
    ...(ofEvents === undefined ? {} : { ofEvents }),
    ...(atMost === undefined ? {} : { atMost }),
  };
}

/** The outputs in expressions that read a row alone: what depends on others is in hidden columns. */
function alone(input: Relation, outputs: readonly Output[]) {
  const late = lateOf(input);
  const ofOthers = outputs.filter(({ value }) => dependsOnOthers(value.sql));
  if (late === undefined || ofOthers.length === 0) return { select: input.select, late, values: outputs };
  const carried = carrying(
    input.select,
    late,
    ofOthers.map(({ value }) => value.sql),
  );
  const values = outputs.map((output) => {
    const value = carried.values[ofOthers.indexOf(output)];
    return value === undefined ? output : { ...output, value: { ...output.value, sql: value } };
  });
  return { ...carried, values };
}

/** Rows of a SELECT (or a table) with the order columns it has. @param hidden columns that go with them */
export function selected(
  from: Sql,
  outputs: readonly Output[],
  order: readonly OrderKey[],
  kind: Relation["kind"],
  hidden: readonly { column: string; value: Sql }[] = [],
): Relation {
  const names = placed(outputs.map(({ name }) => name));
  const columns = outputs.map((output, index): Column => {
    const { name, value } = output;
    const { multi, whole } = value;
    const type = value.type === "number" ? "number" : "text";
    return { name, column: names[index] ?? name, type, multi, ...(whole && { whole }), ...marks(output) };
  });
  const items = outputs.map((output, index) => ({ column: names[index] ?? "", value: expressionOf(output) }));
  const keys = order.map(({ column }) => identifier(column));
  return {
    select: sql`SELECT ${columnsIfRead([...items, ...hidden], keys)} FROM (${from}) AS r`,
    columns,
    order,
    kind,
  };
}

/** A field holds no truth value. */
function expressionOf(output: Output | undefined): Sql {
  if (output === undefined) return raw("NULL");
  return output.value.type === "boolean" ? textOf(output.value) : output.value.sql;
}

/** The fields as they are, for `project` together with others. */
export function outputsOf(relation: Relation): Output[] {
  return relation.columns.map((column) => ({
    name: column.name,
    value: fieldValue(column),
    ...marks(column),
  }));
}

/** What is said of a field beside its value. */
function marks({ groupRank, display, delimiter }: Pick<Output, "groupRank" | "display" | "delimiter">) {
  return {
    ...(groupRank === undefined ? {} : { groupRank }),
    ...(display === undefined ? {} : { display }),
    ...(delimiter === undefined ? {} : { delimiter }),
  };
}

/** With these fields set, or taken out (`undefined`); new ones come last. All expressions read the row as it was. */
export function extend(input: Relation, changes: ReadonlyMap<string, Typed | undefined>): Relation {
  const kept = outputsOf(input).flatMap((output): Output[] => {
    if (!changes.has(output.name)) return [output];
    const value = changes.get(output.name);
    return value === undefined ? [] : [{ ...output, value }];
  });
  const known = new Set(input.columns.map(({ name }) => name));
  const added = [...changes].flatMap(([name, value]): Output[] =>
    known.has(name) || value === undefined ? [] : [{ name, value }],
  );
  return project(input, [...kept, ...added]);
}

/** With a column that is no field: what further steps of one command read. It is gone after `project`. @param name begins with `#` */
export function withHidden(input: Relation, name: string, value: Sql): Relation {
  const late = lateOf(input);
  if (late !== undefined && dependsOnOthers(value)) {
    const { values, ...carried } = carrying(input.select, late, [value]);
    return withHidden({ ...input, ...carried }, name, joined(values, ""));
  }
  const column = sql`${value} AS ${identifier(name)}`;
  const select = sql`SELECT *, ${column} FROM (${input.select}) AS r`;
  if (late === undefined) return { ...input, select };
  const ofFound = (found: Sql) => sql`SELECT *, ${column} FROM (${late.select(found)}) AS r`;
  return { ...input, select, late: { ...late, of: select, select: ofFound } };
}

/** The rows for which `predicate` is true. */
export function filter(input: Relation, predicate: Sql): Relation {
  const select = sql`SELECT * FROM (${input.select}) AS r WHERE ${predicate}`;
  return { ...input, select, ...sameColumns(lateOf(input), select) };
}

/** `#order0 ASC NULLS LAST, …`, for ORDER BY and for windows; `undefined` when there is no order. */
export function orderBy(order: readonly OrderKey[]): Sql | undefined {
  if (order.length === 0) return undefined;
  return joined(
    order.map(
      ({ column, direction, nulls }) =>
        sql`${identifier(column)} ${raw(direction)} NULLS ${raw(nulls === "first" ? "FIRST" : "LAST")}`,
    ),
    ", ",
  );
}

/** `ORDER BY …`, or nothing. */
export function orderClause(order: readonly OrderKey[]): Sql {
  const keys = orderBy(order);
  return keys === undefined ? raw("") : sql`ORDER BY ${keys}`;
}

/** One value that is the less the earlier a row comes, and never NULL. `undefined` when there is no order. */
export function orderValue(order: readonly OrderKey[]): Sql | undefined {
  return order.length === 0
    ? undefined
    : sortValue(order.map((key) => ({ ...key, value: identifier(key.column) })));
}

/** The same of any values. */
export function sortValue(keys: readonly (Omit<OrderKey, "column"> & { value: Sql })[]): Sql {
  const parts = keys.map(({ value, direction, nulls }) => {
    const manner = `'${direction} NULLS ${nulls === "first" ? "FIRST" : "LAST"}'`;
    return sql`${value}, ${raw(manner)}`;
  });
  return sql`create_sort_key(${joined(parts, ", ")})`;
}

/** The first rows, in order. */
export function limited(input: Relation, limit: number, offset = 0): Relation {
  const clause = sql`LIMIT CAST(${limit} AS BIGINT) OFFSET CAST(${offset} AS BIGINT)`;
  const first = amongFirst(input, limit + offset);
  const select = sql`SELECT * FROM (${first.select}) AS r ${orderClause(input.order)} ${clause}`;
  return {
    ...first,
    ...sameColumns(lateOf(first), select),
    atMost: Math.min(limit, input.atMost ?? limit),
    select,
  };
}

/** As many rows can be sorted whole, or stand in a window whole. */
const SORTED_WHOLE = 100_000;

/**
 * Whether rows are too many and too large to be sorted, or put into a window, with all their fields: then it is done with the keys
 * alone, and the rows are looked up by them (`rowsOf`). A row that is another each time it is looked at cannot be found again.
 */
export function isLarge({ ofEvents, order, atMost, select }: Relation): boolean {
  if (ofEvents === undefined || order.length === 0 || (atMost ?? Infinity) <= SORTED_WHOLE) return false;
  return !select.texts.some((text) => text.includes("random()"));
}

/** Fewer rows, of which the first so many are the same. */
export function amongFirst(input: Relation, count: number): Relation {
  if (!isLarge(input)) return input;
  const keys = input.order.map(({ column }) => identifier(column));
  const which = sql`${orderClause(input.order)} LIMIT CAST(${count} AS BIGINT)`;
  const late = lateOf(input);
  if (late !== undefined) {
    const select = wholeRows(late, keys, which);
    return { ...input, select, ...sameColumns(late, select) };
  }
  const first = sql`SELECT ${joined(keys, ", ")} FROM (${input.select}) AS r ${which}`;
  return rowsOf(input, first);
}

/** The rows whose order keys a SELECT gives. */
export function rowsOf(input: Relation, keys: Sql): Relation {
  const last = input.order.length - 1;
  // The last key is that of the store: no event is without it, and by `=` DuckDB looks at a part of the events alone.
  const same = input.order.map(({ column }, index) => {
    const operator = raw(index === last ? "=" : "IS NOT DISTINCT FROM");
    return sql`r.${identifier(column)} ${operator} k.${identifier(column)}`;
  });
  return {
    ...input,
    select: sql`SELECT r.* FROM (${input.select}) AS r SEMI JOIN (${keys}) AS k ON ${joined(same, " AND ")}`,
  };
}

/** In another order; what came before decides between equals. Keys read the row. */
export function reordered(
  input: Relation,
  keys: readonly { value: Sql; direction: OrderKey["direction"] }[],
): Relation {
  const order = [
    ...keys.map(({ direction }): Omit<OrderKey, "column"> => ({ direction })),
    ...input.order.map(({ column: _, ...manner }) => manner),
  ].map((manner, index): OrderKey => ({ ...manner, column: `#order${index}` }));
  const values = [...keys.map(({ value }) => value), ...input.order.map(({ column }) => identifier(column))];
  const late = lateOf(input);
  const items = input.columns.map(({ column }) => ({ column, value: identifier(column) }));
  const places = values.map((value, index) => sql`${value} AS ${identifier(`#order${index}`)}`);
  const select = sql`SELECT ${columnsIfRead([...items, ...carriedItems(late)], places)} FROM (${input.select}) AS r`;
  return { ...input, order, select, ...sameColumns(late, select) };
}

/** The same rows from the last to the first. */
export function backwards(input: Relation): Relation {
  const order = input.order.map(({ nulls, direction, ...key }): OrderKey => {
    const opposite = direction === "ASC" ? "DESC" : "ASC";
    return nulls === "first"
      ? { ...key, direction: opposite }
      : { ...key, direction: opposite, nulls: "first" };
  });
  return { ...input, order };
}

/** The same rows, each with its number from 1 as the only order key (`#order0`). */
export function numbered(input: Relation): Relation {
  const number = sql`row_number() OVER (${orderClause(input.order)})`;
  return {
    ...reordered({ ...input, order: input.order }, [{ value: number, direction: "ASC" }]),
    order: [{ column: "#order0", direction: "ASC" }],
  };
}

/** Rows of one after those of the other. A field that only one of them has is missing in the other's rows. */
export function concatenated(...parts: readonly Relation[]): Relation {
  return stacked(parts, () => []);
}

/** Rows of all of these, the newest first; those without a time come last. */
export function interleaved(...parts: readonly Relation[]): Relation {
  return stacked(parts, (part) => {
    const time = columnOf(part, "_time");
    return [{ value: time === undefined ? raw("NULL") : numberOf(fieldValue(time)), direction: "DESC" }];
  });
}

/** What the first command of a pipeline begins with. */
export const noRows: Relation = {
  select: raw('SELECT 0 AS "#order0" WHERE false'),
  columns: [],
  order: [{ column: "#order0", direction: "ASC" }],
  kind: "report",
};

/** Order keys that relations bring with them. Beyond these they are numbered instead. */
const maxOrderKeys = 12;

function stacked(
  given: readonly Relation[],
  leading: (part: Relation) => { value: Sql; direction: OrderKey["direction"] }[],
): Relation {
  const known = given.filter(({ columns }) => columns.length > 0);
  const crowded = known.reduce((sum, { order }) => sum + order.length, 0) > maxOrderKeys;
  const parts = crowded ? known.map((part) => (part.order.length > 1 ? numbered(part) : part)) : known;
  const [first] = parts;
  if (first === undefined) return given[0] ?? noRows;
  const shapes = [...new Set(parts.flatMap(({ columns }) => columns.map(({ name }) => name)))].map((name) => {
    const all = parts.map((part) => columnOf(part, name)).filter((column) => column !== undefined);
    const type = all.every((column) => column.type === "number") ? "number" : "text";
    return { name, type, multi: all.some(({ multi }) => multi) } as const;
  });
  const columns = placed(shapes.map(({ name }) => name));
  const lead = leading(first).map(({ direction }) => direction);
  const directions: OrderKey["direction"][] = [
    ...lead,
    "ASC",
    ...parts.flatMap(({ order }) => order.map(({ direction }) => direction)),
  ];
  const side = (part: Relation, number: number): Sql => {
    const items = shapes.map(({ name, type, multi }, index) => {
      const column = columnOf(part, name);
      const value = column === undefined ? raw("NULL") : shaped(fieldValue(column), type, multi);
      return { column: columns[index] ?? "", value };
    });
    // Within a part its own keys decide: those of the others are missing there.
    const keys = [
      ...leading(part).map(({ value }) => value),
      raw(String(number)),
      ...parts.flatMap(({ order }, other) =>
        order.map(({ column }) => (other === number ? identifier(column) : raw("NULL"))),
      ),
    ].map((value, index) => sql`${value} AS ${identifier(`#order${index}`)}`);
    return sql`SELECT ${columnsIfRead(items, keys)} FROM (${part.select}) AS r`;
  };
  return {
    select: joined(parts.map(side), " UNION ALL "),
    columns: shapes.map((shape, index) => ({ ...shape, column: columns[index] ?? "" })),
    order: directions.map((direction, index) => ({ column: `#order${index}`, direction })),
    kind: first.kind,
    ...(first.range === undefined ? {} : { range: first.range }),
  };
}

/** A value as a wider type: a number as text, a single value as a list of one. */
export function shaped(value: Typed, type: "text" | "number", multi: boolean): Sql {
  const converted = type === "text" ? textOf(value) : value.sql;
  return multi && !value.multi ? sql`CASE WHEN ${converted} IS NOT NULL THEN [${converted}] END` : converted;
}
