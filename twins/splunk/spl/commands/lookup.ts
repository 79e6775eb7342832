/** `lookup`: adds fields from the matching rows of a lookup table. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { LookupDefinition, LookupTable } from "../context/knowledge.ts";
import type { SearchContext } from "../context/search-context.ts";
import { matchByComparison, timeOfRows } from "../lookups/match-by-comparison.ts";
import { isExact, type LookupMatches, matchExactly } from "../lookups/match-exactly.ts";
import { columnOf, extend, fieldValue, outputsOf, type Relation, select } from "../relation/relation.ts";
import { listOf, nullValue, type Typed, textOf, widen } from "../relation/typed.ts";
import { commandError } from "../spl-error.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { boolean, text } from "../syntax/option-types.ts";

/** A field of the table, and the corresponding field of the rows. */
interface Pair {
  table: string;
  row: string;
}

interface Destination extends Pair {
  /** OUTPUT overwrites; OUTPUTNEW fills missing values only. */
  mode: "overwrite" | "fill";
}

export const lookup = defineCommand({
  name: "lookup",
  kind: "streaming",
  parse(reader) {
    const options = reader.options(optionTypes);
    const start = reader.offset();
    if (reader.atEnd()) reader.fail("Expecting lookup table name as the first argument.");
    const name = reader.text("the name of a lookup table");
    Object.assign(options, reader.options(optionTypes));
    const keys = readPairs(reader);
    if (keys.length === 0) reader.fail("Must specify one or more lookup fields.");
    const destinations: Destination[] = [];
    while (!reader.atEnd()) {
      const mode = reader.keyword("outputnew") ? "fill" : "overwrite";
      if (mode === "overwrite" && !reader.keyword("output")) break;
      destinations.push(...readPairs(reader).map((pair) => ({ ...pair, mode }) as const));
    }
    const written = reader.textOf({ start, end: reader.offset() });
    return { name, keys, destinations, timeField: options.event_time_field, written };
  },
  async compile({ name, keys, destinations, timeField = "_time", written }, input, context) {
    const table = await context.knowledge.lookup(name);
    if (table === undefined) {
      const all = written
        .trim()
        .split(/[\s,]+/)
        .join(", ");
      throw commandError(
        "lookup",
        `Could not construct lookup '${all}'. See search.log for more details.`,
        "run",
      );
    }
    checkFields(name, table, keys, "source");
    checkFields(name, table, destinations, "destination");
    const outputs = destinations.length > 0 ? destinations : defaultOutputs(table, keys);
    if (outputs.length === 0) return input;
    return addFields(input, { name, table, keys, outputs, timeField }, context);
  },
});

const optionTypes = { local: boolean, update: boolean, event_time_field: text };

/** `user AS local_user, host` */
function readPairs(reader: ArgumentReader): Pair[] {
  const pairs: Pair[] = [];
  for (;;) {
    reader.symbol(",");
    const { type, text: word } = reader.peek();
    if (type !== "string" && (type !== "word" || /^(output|outputnew)$/i.test(word))) return pairs;
    const table = reader.field();
    pairs.push({ table, row: reader.keyword("as") ? reader.field("a field after AS") : table });
  }
}

function checkFields(
  lookup: string,
  { fields }: LookupTable,
  pairs: readonly Pair[],
  what: "source" | "destination",
): void {
  const missing = pairs.find(({ table }) => fields.every(({ name }) => name !== table));
  if (missing === undefined) return;
  throw commandError(
    "lookup",
    `Cannot find the ${what} field '${missing.table}' in the lookup table '${lookup}'.`,
    "run",
  );
}

/** Without OUTPUT: all fields of the table except the keys. */
function defaultOutputs({ fields }: LookupTable, keys: readonly Pair[]): Destination[] {
  return fields
    .filter(({ name }) => keys.every(({ table }) => table !== name) && !name.startsWith("_"))
    .map(({ name }) => ({ table: name, row: name, mode: "overwrite" }));
}

interface Plan {
  name: string;
  table: LookupTable;
  keys: readonly Pair[];
  outputs: readonly Destination[];
  timeField: string;
}

function addFields(input: Relation, plan: Plan, context: SearchContext): Relation {
  const { name, table, keys, outputs, timeField } = plan;
  const columns = keys.map(({ row }) => columnOf(input, row));
  const values = columns.flatMap((column) => (column === undefined ? [] : [fieldValue(column)]));
  if (values.length < keys.length) return addMissing(input, outputs);
  const wanted = {
    name,
    table,
    keys: keys.map((pair) => pair.table),
    outputs: outputs.map((pair) => pair.table),
  };
  const { definition = {} } = table;
  if (isExact(wanted) && values.every(({ multi }) => !multi)) {
    const folded = definition.caseSensitive === false;
    const texts = values.map((value) => (folded ? sql`lower(${textOf(value)})` : textOf(value)));
    return joinMatches(input, texts, matchExactly(wanted), outputs, definition);
  }
  const time = definition.timeField === undefined ? [] : [timeOfRows(renameTime(input, timeField))];
  const all = [...values, ...time];
  const found = matchByComparison(wanted, all, input, context);
  return joinMatches(
    input,
    all.map((value) => value.sql),
    found,
    outputs,
    definition,
  );
}

function renameTime(input: Relation, timeField: string): Relation {
  if (timeField === "_time") return input;
  const column = columnOf(input, timeField);
  const others = input.columns.filter(({ name }) => name !== "_time");
  return { ...input, columns: column === undefined ? others : [...others, { ...column, name: "_time" }] };
}

/** Adds the output fields without values, for rows that lack a key field altogether. */
function addMissing(input: Relation, given: readonly Destination[]): Relation {
  const added = given.filter(({ row }) => columnOf(input, row) === undefined);
  return extend(input, new Map(added.map(({ row }) => [row, nullValue])));
}

/** Joins rows and matches by one hash join on the keys. */
function joinMatches(
  input: Relation,
  values: readonly Sql[],
  found: LookupMatches,
  destinations: readonly Destination[],
  definition: LookupDefinition,
): Relation {
  const names = values.map((_, index) => identifier(`#key${index}`));
  const agree = values.map((value, index) => sql`${value} = s.${names[index] ?? raw("")}`);
  const hasKeys = values.map((value) => sql`${value} IS NOT NULL`);
  const from = sql`SELECT r.*, s.*, ${joined(hasKeys, " AND ")} AS "#asked" FROM (${input.select}) AS r LEFT JOIN (SELECT *, true AS "#hit" FROM (${found.select}) AS f) AS s ON ${joined(agree, " AND ")}`;
  const outputs = new Map(outputsOf(input).map((output) => [output.name, output]));
  destinations.forEach(({ row, mode }, index) => {
    const shape = found.values[index] ?? { type: "text", multi: false };
    const value = padMatches({ ...shape, sql: identifier(`#value${index}`) }, definition);
    const own = outputs.get(row);
    outputs.set(row, {
      ...own,
      name: row,
      value: own === undefined ? value : mergeOutput(own.value, value, mode),
    });
  });
  return select(from, [...outputs.values()], input.order, input.kind);
}

/** Pads with `defaultMatch` up to `minMatches`. */
function padMatches(value: Typed, { minMatches = 0, defaultMatch = "" }: LookupDefinition): Typed {
  if (minMatches <= 0) return value;
  const filler = sql`CAST(${defaultMatch} AS VARCHAR)`;
  const type = "text";
  if (minMatches === 1) {
    const texts = textOf(value);
    const one = value.multi ? sql`[${filler}]` : filler;
    return {
      type,
      multi: value.multi,
      sql: sql`CASE WHEN "#asked" AND "#hit" IS NULL THEN ${one} ELSE ${texts} END`,
    };
  }
  const list = listOf({ ...value, type, sql: textOf(value) });
  const missing = sql`CAST(${minMatches} AS BIGINT) - coalesce(len(${list}), 0)`;
  const full = sql`list_concat(coalesce(${list}, []), list_transform(range(greatest(${missing}, 0)), lambda n: ${filler}))`;
  return { type, multi: true, sql: sql`CASE WHEN "#asked" THEN ${full} END` };
}

/** OUTPUT replaces the field of every row that was looked up, matched or not; OUTPUTNEW fills missing values. */
function mergeOutput(own: Typed, found: Typed, mode: Destination["mode"]): Typed {
  const type = own.type === "number" && found.type === "number" ? "number" : "text";
  const multi = own.multi || found.multi;
  const [before, after] = [widen(own, { type, multi }), widen(found, { type, multi })];
  const value =
    mode === "fill"
      ? sql`coalesce(${before}, ${after})`
      : sql`CASE WHEN "#asked" THEN ${after} ELSE ${before} END`;
  return { type, multi, sql: value };
}
