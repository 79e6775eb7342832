/** `join`: adds the fields of a subsearch's rows that agree in given fields. Compiles to one hash join. */
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
  /** Which of the subsearch's rows match by time. */
  time: "any" | "earlier" | "later";
  overwrite: boolean;
  /** Matches for each row; 0: all. */
  max: number;
  /** Prefixes of field names. */
  left: string | undefined;
  right: string | undefined;
  /** `undefined`: the fields common to both sides. */
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
    if (!("rows" in found)) return joinRows(args, input, found);
    const equal = args.equal ?? commonFields(input, relationOf({ ...found, rows: [] }));
    const first = time === "any" ? firstOfEach(found, equal, max) : undefined;
    return joinRows({ ...args, equal }, input, relationOf(first ?? found), {
      isLimited: first !== undefined,
    });
  },
});

/** A report of at most this many columns is fetched at once, rather than counted first and run again. */
const FEW_COLUMNS = 8;

/** The subsearch's rows: in SQL, or already fetched where that is cheaper. */
async function subsearchRows(found: Relation, context: SearchContext): Promise<Relation | Rows> {
  const max = context.limits.joinMaxRows;
  if (found.kind === "events" || found.columns.length > FEW_COLUMNS)
    return limitSubsearch(found, max, context);
  const rows = await context.run(found, max + 1);
  if (rows.rows.length > max) return limitSubsearch(found, max, context);
  return rows;
}

/** The first `max` rows of each key; `undefined` when SQL has to find them. */
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

/** Reads options and fields, in any order. */
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

/** @param isLimited whether `found` has at most `max` rows for each key already */
function joinRows(
  args: Arguments,
  input: Relation,
  found: Relation,
  { isLimited }: { isLimited: boolean } = { isLimited: false },
): Relation {
  const { type, time, max, equal = commonFields(input, found) } = args;
  const keys = equal.map(({ left, right }) => [columnOf(input, left), columnOf(found, right)] as const);
  const known = keys.flatMap(([left, right]) => (left && right ? [comparable(left, right)] : []));
  const outputs = joinOutputs(args, input, found, equal);
  if (known.length < keys.length || keys.length === 0) {
    // Without common fields no row matches; a join on nothing would match every pair.
    const rows = select(withNulls(input, found), outputs, input.order, input.kind);
    return type === "inner" ? filter(rows, raw("false")) : rows;
  }
  const byTime = time !== "any";
  const rows = byTime ? withRowNumber(input) : input;
  const right = known.map((pair) => pair.right);
  const matches = matchesOf(found, right, { max: byTime ? 0 : max, isLimited });
  const agree = joined(
    known.map(({ left }, index) => sql`${left} = s.${key(index)}`),
    " AND ",
  );
  const timed = byTime ? sql`${agree} AND ${timeCondition(rows, time)}` : agree;
  const limitClause =
    byTime && max > 0
      ? sql`QUALIFY row_number() OVER (PARTITION BY r."#order0" ORDER BY s.${position}) <= CAST(${max} AS BIGINT)`
      : raw("");
  const kind = raw(type === "inner" ? "JOIN" : "LEFT JOIN");
  const last = `#match${rows.order.length}`;
  const from = sql`SELECT r.*, s.*, s.${position} AS ${identifier(last)} FROM (${rows.select}) AS r ${kind} (${matches}) AS s ON ${timed} ${limitClause}`;
  const order = max === 1 ? rows.order : [...rows.order, { column: last, direction: "ASC" } as const];
  return select(from, outputs, order, input.kind);
}

/** Fields that both sides have, without internal ones. */
function commonFields(input: Relation, found: Relation): Pair[] {
  return input.columns
    .filter(({ name }) => !name.startsWith("_") && columnOf(found, name) !== undefined)
    .map(({ name }) => ({ left: name, right: name }));
}

/** Both sides in a common type: number, text, or list of texts. */
function comparable(left: Column, right: Column): { left: Sql; right: Sql } {
  const [a, b] = [fieldValue(left), fieldValue(right)];
  if (a.multi || b.multi) return { left: textList(a), right: textList(b) };
  if (a.type === "number" && b.type === "number") return { left: a.sql, right: b.sql };
  return { left: textOf(a), right: textOf(b) };
}

function textList(typed: Typed): Sql {
  return listOf({ ...typed, type: "text", sql: textOf(typed) });
}

/** The subsearch's rows with their join keys, at most `max` for each key. */
function matchesOf(
  found: Relation,
  keys: readonly Sql[],
  { max, isLimited }: { max: number; isLimited: boolean },
): Sql {
  const time = columnOf(found, "_time");
  const items = [
    ...keys.map((expression, index) => sql`${expression} AS ${key(index)}`),
    ...found.columns.map(({ column }, index) => sql`${identifier(column)} AS ${value(index)}`),
    sql`${time === undefined ? raw("CAST(NULL AS DOUBLE)") : numberOf(fieldValue(time))} AS ${moment}`,
  ];
  const place = found.order[0];
  if (isLimited && place !== undefined) {
    return sql`SELECT ${joined(items, ", ")}, ${identifier(place.column)} AS ${position} FROM (${found.select}) AS r`;
  }
  const partition = max === 0 ? raw("") : sql`PARTITION BY ${joined([...keys], ", ")}`;
  const number = sql`row_number() OVER (${partition} ${orderByClause(found.order)}) AS ${position}`;
  const limitClause = max === 0 ? raw("") : sql`QUALIFY ${position} <= CAST(${max} AS BIGINT)`;
  return sql`SELECT ${joined(items, ", ")}, ${number} FROM (${found.select}) AS r ${limitClause}`;
}

function timeCondition(rows: Relation, time: "earlier" | "later"): Sql {
  const column = columnOf(rows, "_time");
  if (column === undefined) return raw("false");
  return sql`s.${moment} ${raw(time === "earlier" ? "<=" : ">=")} ${numberOf(fieldValue(column))}`;
}

/** The input with NULL for all columns of the other side. */
function withNulls(input: Relation, found: Relation): Sql {
  const nothing = found.columns.map(
    ({ type, multi }, index) =>
      sql`CAST(NULL AS ${raw(`${type === "text" ? "VARCHAR" : "DOUBLE"}${multi ? "[]" : ""}`)}) AS ${value(index)}`,
  );
  return sql`SELECT ${joined([raw("r.*"), ...nothing], ", ")} FROM (${input.select}) AS r`;
}

function joinOutputs(
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
      outputs.set(name, {
        ...own,
        value: overwrite ? coalesce(other, own.value) : coalesce(own.value, other),
      });
    }
  });
  return [...outputs.values()];
}

/** The first value that is not NULL. */
function coalesce(first: Typed, second: Typed): Typed {
  const type = first.type === "number" && second.type === "number" ? "number" : "text";
  const multi = first.multi || second.multi;
  return {
    type,
    multi,
    sql: sql`coalesce(${widen(first, { type, multi })}, ${widen(second, { type, multi })})`,
  };
}
