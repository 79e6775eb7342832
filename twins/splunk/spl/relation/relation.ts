/** The rows between two commands of a pipeline: a SELECT and a description of its columns. */
import { prunableColumns } from "@offhook/log-store/column-pruning";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { TimeRange } from "../time/time-range.ts";
import {
  addPassthrough,
  type DeferredColumns,
  deferredOf,
  dependsOnOthers,
  keepDeferred,
  passthroughItems,
  projectDeferred,
} from "./deferred-columns.ts";
import type { OrderKey } from "./order-keys.ts";
import { type Typed, textOf } from "./typed.ts";

/** How results show a field in place of its value (`fieldformat`); `eval/field-format.ts` makes it. */
export interface FieldFormat {
  /** The text to show, as SQL over the columns of `relation`. @throws SplError */
  compile(relation: Relation): Promise<Typed>;
  /** The same format after its fields were renamed. @param names from the old name to the new one */
  renameFields(names: ReadonlyMap<string, string>): FieldFormat;
}

export interface Column {
  /** The field's name in SPL: case-sensitive, any characters. */
  readonly name: string;
  /** Its column in `select`; see `uniqueColumnNames`. */
  readonly column: string;
  readonly type: "text" | "number";
  readonly multi: boolean;
  /** As in `Typed`. */
  readonly integer?: true;
  /** Every row is known to have a value. */
  readonly nonNull?: true;
  /** Position among the BY fields of a report, from 0. */
  readonly groupRank?: number;
  readonly format?: FieldFormat;
  /** Separator that `nomv` puts between the values; a line feed when absent. */
  readonly delimiter?: string;
}

export interface Relation {
  /** Gives the columns of `columns` and `order`. The order of its rows means nothing. */
  readonly select: Sql;
  /** In the order in which results show them. */
  readonly columns: readonly Column[];
  /** Most significant key first. Rows that agree in all keys come in any order, so keys should tell all rows apart. */
  readonly order: readonly OrderKey[];
  /** Each row is one event of the store, so there may be millions. */
  readonly ofEvents?: true;
  /** Columns computed only for the rows that are shown; see `deferred-columns.ts`. */
  readonly deferred?: DeferredColumns;
  /** The prefilter's candidates, when a search found these rows by scanning texts; see `search/probe-newest.ts`. */
  readonly candidates?: Candidates;
  /** Top-N pushdown: how to take the first rows from the relations this one concatenates; see `union.ts`. */
  readonly topN?: { readonly of: Sql; rows(count: number): Relation };
  /** Upper bound of the number of rows, if known. */
  readonly maxRows?: number;
  /** Columns of all SELECTs nested in `select`. DuckDB allocates a vector for each; see `materialize.ts`. */
  readonly nestedColumns?: number;
  /** The LIMIT that made `of`. Stale once `select` or `order` differ from it. */
  readonly limitOf?: {
    readonly of: Sql;
    readonly order: readonly OrderKey[];
    readonly from: Sql;
    readonly limit: number;
    readonly offset: number;
  };
  /** Whether rows are still events (they have `_raw`) or a transforming command has made a report of them. */
  readonly kind: "events" | "report";
  /** The search's own time range. The request's range holds when absent. */
  readonly range?: TimeRange;
}

interface Candidates {
  /** The SELECT of the rows found. Stale once the relation has another one. */
  readonly of: Sql;
  /** The rows that pass the prefilter, in the same order. */
  readonly passing: Relation;
  /** The exact condition. */
  readonly predicate: Sql;
}

/** A field of a row to be made. */
export interface Output {
  name: string;
  value: Typed;
  groupRank?: number;
  format?: FieldFormat;
  delimiter?: string;
}

/** Finds a field by name. `a{}.b` and `a{}`, SPL's names for members of a JSON list, also find the multi-values `a.b` and `a`. */
export function columnOf({ columns }: Relation, name: string): Column | undefined {
  const named = columns.find((column) => column.name === name);
  if (named !== undefined || !name.includes("{}")) return named;
  const plain = name.replaceAll("{}", "");
  return columns.find((column) => column.multi && column.name === plain);
}

/** The field's value, read from `(select) AS r`. */
export function fieldValue({ column, type, multi, integer: whole, nonNull: present }: Column): Typed {
  const value = identifier(column);
  return { type, multi, sql: value, ...(whole && { integer: whole }), ...(present && { nonNull: value }) };
}

/** Marks columns whose outputs are never NULL. Only for SELECTs that add no rows: after an outer join a field may be missing. */
export function markNonNull(columns: readonly Column[], outputs: readonly Output[]): Column[] {
  return columns.map((column, index): Column => {
    const value = outputs[index]?.value;
    return value !== undefined && value.nonNull === value.sql ? { ...column, nonNull: true } : column;
  });
}

/** Column names for fields: `~n` is appended where a name differs from an earlier one in case alone, which DuckDB ignores. */
export function uniqueColumnNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let column = name === "" ? "~" : name;
    for (let n = 1; taken.has(column.toLowerCase()); n++) column = `${name}~${n}`;
    taken.add(column.toLowerCase());
    return column;
  });
}

/** Other columns of the same rows, in the same order. The outputs' expressions read `input`'s columns. */
export function project(input: Relation, outputs: readonly Output[], kind = input.kind): Relation {
  const { range, ofEvents, maxRows } = input;
  const { select: from, deferred, values } = hoistRowDependencies(input, outputs);
  const result = select(from, values, input.order, kind, passthroughItems(deferred));
  const items = result.columns.map(({ column }, index) => ({ column, value: expressionOf(values[index]) }));
  return {
    ...result,
    nestedColumns: (input.nestedColumns ?? 0) + result.columns.length,
    columns: markNonNull(result.columns, outputs),
    ...projectDeferred(deferred, result.select, items),
    ...(range === undefined ? {} : { range }),
    ...(ofEvents === undefined ? {} : { ofEvents }),
    ...(maxRows === undefined ? {} : { maxRows }),
  };
}

/** Moves expressions that read other rows (windows, order keys) into hidden columns, so that the outputs read one row alone. */
function hoistRowDependencies(input: Relation, outputs: readonly Output[]) {
  const deferred = deferredOf(input);
  const ofOthers = outputs.filter(({ value }) => dependsOnOthers(value.sql));
  if (deferred === undefined || ofOthers.length === 0)
    return { select: input.select, deferred, values: outputs };
  const hoisted = addPassthrough(
    input.select,
    deferred,
    ofOthers.map(({ value }) => value.sql),
  );
  const values = outputs.map((output) => {
    const value = hoisted.values[ofOthers.indexOf(output)];
    return value === undefined ? output : { ...output, value: { ...output.value, sql: value } };
  });
  return { ...hoisted, values };
}

/**
 * Selects outputs from a SELECT or a table.
 * @param hidden columns that go along and are no fields
 * @param keys order keys as SQL over `from`; default: the columns that `order` names
 */
export function select(
  from: Sql,
  outputs: readonly Output[],
  order: readonly OrderKey[],
  kind: Relation["kind"],
  hidden: readonly { column: string; value: Sql }[] = [],
  keys: readonly Sql[] = order.map(({ column }) => identifier(column)),
): Relation {
  const names = uniqueColumnNames(outputs.map(({ name }) => name));
  const columns = outputs.map((output, index): Column => {
    const { name, value } = output;
    const { multi, integer: whole } = value;
    const type = value.type === "number" ? "number" : "text";
    return {
      name,
      column: names[index] ?? name,
      type,
      multi,
      ...(whole && { integer: whole }),
      ...annotationsOf(output),
    };
  });
  const items = outputs.map((output, index) => ({ column: names[index] ?? "", value: expressionOf(output) }));
  return {
    select: sql`SELECT ${prunableColumns([...items, ...hidden], keys)} FROM (${from}) AS r`,
    columns,
    order,
    kind,
  };
}

/** Booleans become text: no field holds one. */
function expressionOf(output: Output | undefined): Sql {
  if (output === undefined) return raw("NULL");
  return output.value.type === "boolean" ? textOf(output.value) : output.value.sql;
}

/** The fields unchanged, as outputs for `project`. */
export function outputsOf(relation: Relation): Output[] {
  return relation.columns.map((column) => ({
    name: column.name,
    value: fieldValue(column),
    ...annotationsOf(column),
  }));
}

/** What describes a field beside its value. */
function annotationsOf({
  groupRank,
  format: display,
  delimiter,
}: Pick<Output, "groupRank" | "format" | "delimiter">) {
  return {
    ...(groupRank === undefined ? {} : { groupRank }),
    ...(display === undefined ? {} : { format: display }),
    ...(delimiter === undefined ? {} : { delimiter }),
  };
}

/** Sets fields, or removes them (`undefined`); new ones come last. All expressions read the row as it was before. */
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

/** Adds a column that is no field, for later steps of one command. `project` drops it. @param name begins with `#` */
export function withHiddenColumn(input: Relation, name: string, value: Sql): Relation {
  const deferred = deferredOf(input);
  if (deferred !== undefined && dependsOnOthers(value)) {
    const { values, ...hoisted } = addPassthrough(input.select, deferred, [value]);
    return withHiddenColumn({ ...input, ...hoisted }, name, joined(values, ""));
  }
  const column = sql`${value} AS ${identifier(name)}`;
  const select = sql`SELECT *, ${column} FROM (${input.select}) AS r`;
  if (deferred === undefined) return { ...input, select };
  const fetch = (found: Sql) => sql`SELECT *, ${column} FROM (${deferred.select(found)}) AS r`;
  return { ...input, select, deferred: { ...deferred, of: select, select: fetch } };
}

/** Keeps the rows for which `predicate` is true. */
export function filter(input: Relation, predicate: Sql): Relation {
  const select = sql`SELECT * FROM (${input.select}) AS r WHERE ${predicate}`;
  return { ...input, select, ...keepDeferred(deferredOf(input), select) };
}

/** Input of the first command of a pipeline. */
export const noRows: Relation = {
  select: raw('SELECT 0 AS "#order0" WHERE false'),
  columns: [],
  order: [{ column: "#order0", direction: "ASC" }],
  kind: "report",
};
