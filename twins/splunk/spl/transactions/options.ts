/** Options of `transaction`. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { ArgumentReader, OptionType } from "../syntax/argument-reader.ts";
import type { Expression, SearchExpression } from "../syntax/ast.ts";
import { boolean, count, integer, text } from "../syntax/option-types.ts";
import { parseExpression, parseSearchExpression } from "../syntax/parse-text.ts";

/** A condition that the first or the last row of a transaction meets. */
export type Boundary =
  | { kind: "search"; expression: SearchExpression }
  | { kind: "eval"; expression: Expression };

export interface TransactionOptions {
  fields: readonly string[];
  /** Seconds; `undefined`: unlimited. */
  maxSpan: number | undefined;
  maxPause: number | undefined;
  maxEvents: number | undefined;
  startsWith: Boundary | undefined;
  endsWith: Boundary | undefined;
  /** Whether a row must share a value with a transaction; else it is enough that none differs. */
  connected: boolean;
  /** As `connected`, for rows that begin or end a transaction. */
  unifyEnds: boolean;
  keepOrphans: boolean;
  keepEvicted: boolean;
  maxOpenTransactions: number | undefined;
  maxOpenEvents: number | undefined;
  /** Separates the values of `_raw`. */
  delim: string;
  /** Stands for a missing value in a list. */
  nullText: string;
  rawAsList: boolean;
  /** Fields whose values are listed row by row; those of other fields are deduplicated and sorted. */
  listFields: "all" | "none" | ReadonlySet<string>;
}

const units = lookupTable<number>({ s: 1, m: 60, h: 3_600, d: 86_400 });

const duration: OptionType<number> = {
  expected: "<int>(s|m|h|d)",
  read(value) {
    const [, number, unit = "s"] = /^([+-]?\d{1,12})\s*(s|m|h|d)?$/i.exec(value) ?? [];
    return number === undefined ? undefined : Number(number) * (units[unit.toLowerCase()] ?? 1);
  },
};

const optionTypes = {
  ...{
    name: text,
    maxspan: duration,
    maxpause: duration,
    maxevents: integer,
    connected: boolean,
    unifyends: boolean,
  },
  ...{ keeporphans: boolean, keepevicted: boolean, maxopentxn: count, maxopenevents: count },
  ...{ delim: text, nullstr: text, mvraw: boolean },
};

export function readTransaction(reader: ArgumentReader): TransactionOptions {
  const fields: string[] = [];
  const boundaries: { startswith?: Boundary; endswith?: Boundary } = {};
  let listed: TransactionOptions["listFields"] = "none";
  let options = reader.options(optionTypes);
  while (!reader.atEnd()) {
    const name = optionName(reader);
    if (name === undefined) fields.push(reader.field());
    else if (name === "startswith" || name === "endswith") boundaries[name] = readBoundary(reader);
    else if (name === "mvlist") listed = readListFields(reader);
    else reader.fail(`Invalid option '${reader.peek().text}'.`);
    reader.symbol(",");
    options = { ...options, ...reader.options(optionTypes) };
  }
  if (options.name !== undefined) {
    reader.fail(`The transaction definition '${options.name}' of transactiontypes.conf is not served here.`);
  }
  const { connected = true, unifyends: unifyEnds = connected } = options;
  return {
    fields: [...new Set(fields.flatMap((field) => field.split(",").map((part) => part.trim())))].filter(
      Boolean,
    ),
    maxSpan: nonNegative(options.maxspan),
    maxPause: nonNegative(options.maxpause),
    maxEvents: nonNegative(options.maxevents ?? 1_000),
    startsWith: boundaries.startswith,
    endsWith: boundaries.endswith,
    connected,
    unifyEnds,
    keepOrphans: options.keeporphans ?? false,
    keepEvicted: options.keepevicted ?? false,
    maxOpenTransactions: options.maxopentxn,
    maxOpenEvents: options.maxopenevents,
    delim: options.delim ?? "\n",
    nullText: options.nullstr ?? "NULL",
    rawAsList: options.mvraw ?? false,
    listFields: listed,
  };
}

/** A negative limit means unlimited. */
function nonNegative(value: number | undefined): number | undefined {
  return value === undefined || value < 0 ? undefined : value;
}

/** The word before an `=`, in lower case; `undefined` when no option is next. */
function optionName(reader: ArgumentReader): string | undefined {
  const after = reader.peek(1);
  const isOption = reader.peek().type === "word" && after.type === "symbol" && after.text === "=";
  return isOption ? reader.peek().text.toLowerCase() : undefined;
}

/** `"login"`, `(user=ann)`, `eval(bytes > 10)` */
function readBoundary(reader: ArgumentReader): Boundary {
  reader.next();
  reader.symbol("=");
  const inner = reader.parenthesized();
  if (inner !== undefined) return { kind: "search", expression: parseSearchExpression(inner) };
  const word = reader.peek();
  const value = reader.text("a search or eval expression");
  if (word.type === "word" && value.toLowerCase() === "eval") {
    const expression = reader.parenthesized();
    if (expression !== undefined)
      return { kind: "eval", expression: parseExpression(expression, "transaction") };
  }
  return { kind: "search", expression: parseSearchExpression(value) };
}

/** `mvlist=t`, `mvlist="a, b"` */
function readListFields(reader: ArgumentReader): TransactionOptions["listFields"] {
  reader.next();
  reader.symbol("=");
  const value = reader.text("a value for option 'mvlist'");
  const flag = boolean.read(value);
  if (flag !== undefined) return flag ? "all" : "none";
  return new Set(value.split(/[\s,]+/).filter(Boolean));
}
