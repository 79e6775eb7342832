/** `join`: the fields of a subsearch's rows that agree with a row in given fields. One hash join, in SQL. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { limitSubsearch } from "../context/subsearch-limit.ts";
import { withRowNumber } from "../relation/order.ts";
import { orderByClause } from "../relation/order-keys.ts";
import {
  type Column,
  columnOf,
  fieldValue,
  filter,
  type Output,
  outputsOf,
  type Relation,
  select,
} from "../relation/relation.ts";
import { type Rows, relationOf } from "../relation/rows.ts";
import { listOf, numberOf, type Typed, textOf, widen } from "../relation/typed.ts";
import { type Dataset, datasetRelation, namedDatasetIsNext, readDataset } from "../sources/dataset.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { boolean, count, oneOf, text } from "../syntax/option-types.ts";

interface Arguments {
  type: "inner" | "left";
  /** Which of the subsearch's rows a row can be joined with by time. */
  time: "any" | "earlier" | "later";
  overwrite: boolean;
  /** Rows of the subsearch for each row; 0: all. */
  max: number;
  /** Prefixes of the fields' names. */
  left: string | undefined;
  right: string | undefined;
  /** `undefined`: those that both have. */
  equal: readonly Pair[] | undefined;
  dataset: Dataset;
}

interface Pair {
  left: string;
  right: string;
}

export const join = defineCommand({
  name: "join",
  kind: "events",
  parse(reader): Arguments {
    const {
      type = "inner",
      usetime = false,
      earlier = true,
      overwrite = true,
      max = 1,
      left,
      right,
      names,
    } = readOptions(reader);
    const equal = reader.keyword("where")
      ? readEqualities(reader, left, right)
      : names.map((name) => ({ left: name, right: name }));
    const dataset = readDataset(reader);
    if (dataset === undefined)
      return reader.fail("Usage: join (<join-options>)* <join-constraint> <dataset>.");
    const time = usetime ? (earlier ? "earlier" : "later") : "any";
    return {
      type: type === "inner" ? "inner" : "left",
      time,
      overwrite,
      max,
      left,
      right,
      equal: equal.length === 0 ? undefined : equal,
      dataset,
    };
  },
  async compile(args, input, context) {
    const { dataset, time, max } = args;
    const found = await subsearchRows(await datasetRelation("join", dataset, context), context);
    if (!("rows" in found)) return joinedRows(args, input, found);
    const equal = args.equal ?? commonFields(input, relationOf({ ...found, rows: [] }));
    const first = time === "any" ? firstOfEach(found, equal, max) : undefined;
    return joinedRows({ ...args, equal }, input, relationOf(first ?? found), first !== undefined);
  },
});

/** Columns of a report that is better run once than counted first and run again. */
const FEW_COLUMNS = 8;

/** What is joined with: in SQL, or run already where that costs less. */
async function subsearchRows(found: Relation, context: SearchContext): Promise<Relation | Rows> {
  const max = context.limits.joinMaxRows;
  if (found.kind === "events" || found.columns.length > FEW_COLUMNS)
    return limitSubsearch(found, max, context);
  const rows = await context.run(found, max + 1);
  if (rows.rows.length > max) return limitSubsearch(found, max, context);
  return rows;
}

/** As many rows of each key as one row is joined with at most; `undefined` where that is for SQL to tell. */
function firstOfEach({ fields, rows }: Rows, equal: readonly Pair[], max: number): Rows | undefined {
  const places = equal.map(({ right }) => fields.findIndex(({ name }) => name === right));
  if (max === 0 || places.some((place) => place < 0 || fields[place]?.multi)) return undefined;
  const counts = new Map<string, number>();
  const first = rows.filter((row) => {
    const key = JSON.stringify(places.map((place) => (row[place] === null ? null : String(row[place]))));
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= max;
  });
  return { fields, rows: first };
}

const optionTypes = {
  type: oneOf("inner", "outer", "left"),
  usetime: boolean,
  earlier: boolean,
  overwrite: boolean,
  max: count,
  left: text,
  right: text,
};

/** Options and fields, in any order. */
function readOptions(reader: ArgumentReader) {
  const names: string[] = [];
  let options = reader.options(optionTypes);
  for (;;) {
    const { type, text: word } = reader.peek();
    const isField = (type === "word" && word.toLowerCase() !== "where") || type === "string";
    if (!isField || namedDatasetIsNext(reader)) return { ...options, names };
    const after = reader.peek(1);
    if (after.type === "symbol" && after.text === "=") reader.fail(`Invalid option '${word}'.`);
    names.push(reader.field());
    reader.symbol(",");
    options = { ...options, ...reader.options(optionTypes) };
  }
}

/** `L.id=R.key L.host=R.host` */
function readEqualities(reader: ArgumentReader, left?: string, right?: string): Pair[] {
  const pairs: Pair[] = [];
  const side = (alias: string | undefined) => {
    const name = reader.field();
    if (alias === undefined) return name;
    if (!name.startsWith(`${alias}.`))
      reader.fail(`The field '${name}' must begin with the alias '${alias}'.`);
    return name.slice(alias.length + 1);
  };
  do {
    const first = side(left);
    if (!reader.symbol("=")) reader.fail("An '=' is expected between the fields to join on.");
    pairs.push({ left: first, right: side(right) });
    reader.symbol(",");
  } while (!namedDatasetIsNext(reader) && reader.peek().type === "word");
  return pairs;
}

/** Hidden columns of the subsearch's rows. */
const key = (index: number) => identifier(`#key${index}`);
const value = (index: number) => identifier(`#value${index}`);
const position = identifier("#position");
const moment = identifier("#moment");

/** @param areFirst whether no more rows of each key are there than a row is joined with */
function joinedRows(args: Arguments, input: Relation, found: Relation, areFirst = false): Relation {
  const { type, time, max, equal = commonFields(input, found) } = args;
  const keys = equal.map(({ left, right }) => [columnOf(input, left), columnOf(found, right)] as const);
  const known = keys.flatMap(([left, right]) => (left && right ? [comparable(left, right)] : []));
  const outputs = joinedOutputs(args, input, found, equal);
  if (known.length < keys.length || keys.length === 0) {
    // Nothing can agree: without a field in common every row would agree with every other, which is no join.
    const rows = select(withoutMatch(input, found), outputs, input.order, input.kind);
    return type === "inner" ? filter(rows, raw("false")) : rows;
  }
  const byTime = time !== "any";
  const rows = byTime ? withRowNumber(input) : input;
  const matches = matchesOf(
    found,
    known.map(({ right }) => right),
    byTime ? 0 : max,
    areFirst,
  );
  const agree = joined(
    known.map(({ left }, index) => sql`${left} = s.${key(index)}`),
    " AND ",
  );
  const timed = byTime ? sql`${agree} AND ${timeCondition(rows, time)}` : agree;
  const most =
    byTime && max > 0
      ? sql`QUALIFY row_number() OVER (PARTITION BY r."#order0" ORDER BY s.${position}) <= CAST(${max} AS BIGINT)`
      : raw("");
  const kind = raw(type === "inner" ? "JOIN" : "LEFT JOIN");
  const last = `#match${rows.order.length}`;
  const from = sql`SELECT r.*, s.*, s.${position} AS ${identifier(last)} FROM (${rows.select}) AS r ${kind} (${matches}) AS s ON ${timed} ${most}`;
  const order = max === 1 ? rows.order : [...rows.order, { column: last, direction: "ASC" } as const];
  return select(from, outputs, order, input.kind);
}

/** Fields that both have; internal ones are not looked at. */
function commonFields(input: Relation, found: Relation): Pair[] {
  return input.columns
    .filter(({ name }) => !name.startsWith("_") && columnOf(found, name) !== undefined)
    .map(({ name }) => ({ left: name, right: name }));
}

/** Numbers with numbers; else texts, or lists of texts. */
function comparable(left: Column, right: Column): { left: Sql; right: Sql } {
  const [a, b] = [fieldValue(left), fieldValue(right)];
  if (a.multi || b.multi) return { left: listed(a), right: listed(b) };
  if (a.type === "number" && b.type === "number") return { left: a.sql, right: b.sql };
  return { left: textOf(a), right: textOf(b) };
}

function listed(typed: Typed): Sql {
  return listOf({ ...typed, type: "text", sql: textOf(typed) });
}

/** The subsearch's rows by what they are joined on: as many for each as there may be. */
function matchesOf(found: Relation, keys: readonly Sql[], max: number, areFirst: boolean): Sql {
  const time = columnOf(found, "_time");
  const items = [
    ...keys.map((expression, index) => sql`${expression} AS ${key(index)}`),
    ...found.columns.map(({ column }, index) => sql`${identifier(column)} AS ${value(index)}`),
    sql`${time === undefined ? raw("CAST(NULL AS DOUBLE)") : numberOf(fieldValue(time))} AS ${moment}`,
  ];
  const place = found.order[0];
  if (areFirst && place !== undefined) {
    return sql`SELECT ${joined(items, ", ")}, ${identifier(place.column)} AS ${position} FROM (${found.select}) AS r`;
  }
  const partition = max === 0 ? raw("") : sql`PARTITION BY ${joined([...keys], ", ")}`;
  const number = sql`row_number() OVER (${partition} ${orderByClause(found.order)}) AS ${position}`;
  const most = max === 0 ? raw("") : sql`QUALIFY ${position} <= CAST(${max} AS BIGINT)`;
  return sql`SELECT ${joined(items, ", ")}, ${number} FROM (${found.select}) AS r ${most}`;
}

function timeCondition(rows: Relation, time: "earlier" | "later"): Sql {
  const column = columnOf(rows, "_time");
  if (column === undefined) return raw("false");
  return sql`s.${moment} ${raw(time === "earlier" ? "<=" : ">=")} ${numberOf(fieldValue(column))}`;
}

/** The input with the other's columns, all of them missing. */
function withoutMatch(input: Relation, found: Relation): Sql {
  const nothing = found.columns.map(
    ({ type, multi }, index) =>
      sql`CAST(NULL AS ${raw(`${type === "text" ? "VARCHAR" : "DOUBLE"}${multi ? "[]" : ""}`)}) AS ${value(index)}`,
  );
  return sql`SELECT ${joined([raw("r.*"), ...nothing], ", ")} FROM (${input.select}) AS r`;
}

function joinedOutputs(
  { overwrite, left, right }: Arguments,
  input: Relation,
  found: Relation,
  equal: readonly Pair[],
): Output[] {
  const prefixed = (name: string, alias: string | undefined) =>
    alias === undefined || name.startsWith("_") ? name : `${alias}.${name}`;
  const outputs = new Map(
    outputsOf(input).map((output) => {
      const name = prefixed(output.name, left);
      return [name, { ...output, name }];
    }),
  );
  const same = new Set(equal.flatMap((pair) => (pair.left === pair.right ? [pair.left] : [])));
  found.columns.forEach((column, index) => {
    const name = prefixed(column.name, right);
    const other: Typed = { ...fieldValue(column), sql: value(index) };
    const own = outputs.get(name);
    if (own === undefined) outputs.set(name, { name, value: other });
    else if (!same.has(name)) {
      outputs.set(name, { ...own, value: overwrite ? firstOf(other, own.value) : firstOf(own.value, other) });
    }
  });
  return [...outputs.values()];
}

/** The first that is there. */
function firstOf(first: Typed, second: Typed): Typed {
  const type = first.type === "number" && second.type === "number" ? "number" : "text";
  const multi = first.multi || second.multi;
  return {
    type,
    multi,
    sql: sql`coalesce(${widen(first, { type, multi })}, ${widen(second, { type, multi })})`,
  };
}
