/** The rows between two commands of a pipeline: a SELECT, and what its columns are. */
import { columnsIfRead } from "@offhook/log-store/needed-columns";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { TimeRange } from "../context/search-context.ts";
import type { Expression } from "../syntax/ast.ts";
import {
  carriedItems,
  carrying,
  dependsOnOthers,
  type Late,
  lateOf,
  otherColumns,
  sameColumns,
} from "./deferred-columns.ts";
import type { OrderKey } from "./order-keys.ts";
import { type Typed, textOf } from "./typed.ts";

export interface Column {
  /** The field: case counts, any characters. */
  readonly name: string;
  /** Its column in `select`; see `placed`. */
  readonly column: string;
  readonly type: "text" | "number";
  readonly multi: boolean;
  /** As `Typed` has it. */
  readonly whole?: true;
  /** Whether every row has it, as far as that is known. */
  readonly present?: true;
  /** Position among the BY fields, from 0, when it is one of a report. */
  readonly groupRank?: number;
  /** What results show in its place (`fieldformat`); see `eval/displayed.ts`. */
  readonly display?: Expression;
  /** What `nomv` puts between the values; a line feed when absent. */
  readonly delimiter?: string;
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
  /** How columns are made of single rows, once it is known which rows they are; see `deferred-columns.ts`. */
  readonly late?: Late;
  /** What a search has found these among by a look at each text; see `search/newest-first.ts`. */
  readonly among?: Among;
  /** How its first rows are found by the first of each of several relations, whose rows these are; see `union.ts`. */
  readonly first?: { readonly of: Sql; rows(count: number): Relation };
  /** How many rows there can be, when that is known. */
  readonly atMost?: number;
  /** Columns of all the SELECTs that `select` nests: DuckDB takes a chunk of memory for each; see `materialize.ts`. */
  readonly steps?: number;
  /** What `select` is the first rows of. A relation that has another one by now, or another order, is something else. */
  readonly cut?: {
    readonly of: Sql;
    readonly order: readonly OrderKey[];
    readonly from: Sql;
    readonly limit: number;
    readonly offset: number;
  };
  /** Whether rows still are events (they have `_raw`), or a transforming command has made a report of them. */
  readonly kind: "events" | "report";
  /** The times in which its events were looked for, when the search has said so itself; else they are the request's. */
  readonly range?: TimeRange;
}

export interface Among {
  /** The SELECT of the rows found. A relation that has another one by now has changed in a way that nothing is known of here. */
  readonly of: Sql;
  /** All of them, in the same order. */
  readonly passing: Relation;
  readonly predicate: Sql;
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
export function fieldValue({ column, type, multi, whole, present }: Column): Typed {
  const value = identifier(column);
  return { type, multi, sql: value, ...(whole && { whole }), ...(present && { present: value }) };
}

/** What is known of the outputs of the same rows: where rows are added to, as by an outer join, a field may be missing. */
export function withPresent(columns: readonly Column[], outputs: readonly Output[]): Column[] {
  return columns.map((column, index): Column => {
    const value = outputs[index]?.value;
    return value !== undefined && value.present === value.sql ? { ...column, present: true } : column;
  });
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
    steps: (input.steps ?? 0) + result.columns.length,
    columns: withPresent(result.columns, outputs),
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

/**
 * Rows of a SELECT (or a table).
 * @param hidden columns that go with them
 * @param keys what they are ordered by, over the SELECT; the columns that it has for that when absent
 */
export function selected(
  from: Sql,
  outputs: readonly Output[],
  order: readonly OrderKey[],
  kind: Relation["kind"],
  hidden: readonly { column: string; value: Sql }[] = [],
  keys: readonly Sql[] = order.map(({ column }) => identifier(column)),
): Relation {
  const names = placed(outputs.map(({ name }) => name));
  const columns = outputs.map((output, index): Column => {
    const { name, value } = output;
    const { multi, whole } = value;
    const type = value.type === "number" ? "number" : "text";
    return { name, column: names[index] ?? name, type, multi, ...(whole && { whole }), ...marks(output) };
  });
  const items = outputs.map((output, index) => ({ column: names[index] ?? "", value: expressionOf(output) }));
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

/** What the first command of a pipeline begins with. */
export const noRows: Relation = {
  select: raw('SELECT 0 AS "#order0" WHERE false'),
  columns: [],
  order: [{ column: "#order0", direction: "ASC" }],
  kind: "report",
};
