/** Sort keys of `sort` and `dedup … sortby`. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { OrderKey } from "../relation/order-keys.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { bindOnce, mapList, numberOf, type Typed, textOf } from "../relation/typed.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";

export interface SortField {
  readonly name: string;
  /** How values compare; `auto` decides by the values. */
  readonly type: "auto" | "num" | "str" | "ip";
  readonly direction: OrderKey["direction"];
}

export interface SortKey {
  value: Sql;
  direction: OrderKey["direction"];
}

/**
 * Reads `-a, +num(b) c`. A sign followed by a blank holds for all later fields without a sign of their own.
 * @returns the fields, and whether the command ends with `d` or `desc`
 */
export function readSortFields(reader: ArgumentReader): { fields: SortField[]; reversed: boolean } {
  const fields: SortField[] = [];
  let general: SortField["direction"] = "ASC";
  for (;;) {
    const comma = reader.symbol(",");
    const token = reader.peek();
    if (token.type !== "word" && token.type !== "string") return { fields, reversed: false };
    const after = reader.peek(1);
    if (after.type === "symbol" && after.text === "=") return { fields, reversed: false };
    if (isReversal(reader, fields.length > 0 && !comma)) return { fields, reversed: true };
    const sign = token.type === "word" ? signOf(token.text) : undefined;
    if (sign !== undefined && token.text.length === 1) {
      reader.next();
      const next = reader.peek();
      if (next.start === token.end && next.type === "string") {
        fields.push(sortField(reader.field("a field to sort by"), sign));
      } else {
        general = sign;
      }
      continue;
    }
    const name = reader.field("a field to sort by");
    fields.push(sign === undefined ? sortField(name, general) : sortField(name.slice(1), sign));
  }
}

/** Reads `d` or `desc` as the last word. */
function isReversal(reader: ArgumentReader, possible: boolean): boolean {
  if (!possible || reader.peek(1).type !== "end") return false;
  return reader.keyword("d", "desc");
}

function signOf(text: string): SortField["direction"] | undefined {
  if (text.startsWith("-")) return "DESC";
  return text.startsWith("+") ? "ASC" : undefined;
}

function sortField(text: string, direction: SortField["direction"]): SortField {
  const [, type = "auto", inner = text] = /^(auto|str|ip|num)\((.*)\)$/is.exec(text) ?? [];
  return { name: unquote(inner.trim()), type: sortType(type), direction };
}

function sortType(text: string): SortField["type"] {
  const types = ["auto", "num", "str", "ip"] as const;
  return types.find((type) => type === text.toLowerCase()) ?? "auto";
}

function unquote(name: string): string {
  return /^(["']).*\1$/s.test(name) && name.length > 1 ? name.slice(1, -1) : name;
}

/** Keys for `orderBy`. A field that the relation lacks has none. NULL marks a missing value, which comes last in either direction. */
export function sortKeys(input: Relation, fields: readonly SortField[]): SortKey[] {
  return fields.flatMap(({ name, type, direction }) => {
    const column = columnOf(input, name);
    if (column === undefined) return [];
    return keysOf(fieldValue(column), type).map((value) => ({ value, direction }));
  });
}

function keysOf(value: Typed, type: SortField["type"]): Sql[] {
  if (value.type === "number" && !value.multi && (type === "auto" || type === "num")) return [value.sql];
  const text = joinedText(value);
  if (type === "str") return [text];
  if (type === "num") return [numberRank(text), numberIn(text), text];
  if (type === "ip") return [addressRank(text), addressIn(text), text];
  return [kindOf(text), numberIn(text), addressIn(text), text];
}

/** A multi-value sorts by its concatenated values. */
function joinedText(value: Typed): Sql {
  const text = textOf(value);
  return value.multi ? sql`list_aggregate(${text}, 'string_agg', ${"\n"})` : text;
}

function numberIn(text: Sql): Sql {
  return numberOf({ type: "text", multi: false, sql: text });
}

/** Ranks numbers before other values. */
function numberRank(text: Sql): Sql {
  return sql`CASE WHEN ${text} IS NOT NULL THEN (${numberIn(text)} IS NULL)::INTEGER END`;
}

const addressPattern = raw(`'(25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(25[0-5]|2[0-4]\\d|1?\\d?\\d)){3}'`);

function isAddress(text: Sql): Sql {
  return sql`(length(${text}) BETWEEN 7 AND 15 AND regexp_full_match(${text}, ${addressPattern}))`;
}

function addressRank(text: Sql): Sql {
  return sql`CASE WHEN ${text} IS NOT NULL THEN (NOT ${isAddress(text)})::INTEGER END`;
}

/** An IPv4 address as one number; NULL for other texts. */
function addressIn(text: Sql): Sql {
  const bytes = mapList(sql`string_split(${text}, '.')`, (byte) => sql`CAST(${byte} AS BIGINT)`);
  const number = bindOnce(
    bytes,
    (list) => sql`(${list}[1] * 16777216 + ${list}[2] * 65536 + ${list}[3] * 256 + ${list}[4])`,
  );
  return sql`CASE WHEN ${isAddress(text)} THEN ${number} END`;
}

/**
 * Ranks values by kind. Splunk compares each pair of values by the kinds of both, which is no total order when kinds are mixed.
 * Here the kinds follow each other by their first characters: texts that sort before digits, numbers, addresses, other texts.
 */
function kindOf(text: Sql): Sql {
  return sql`CASE WHEN ${text} IS NULL THEN NULL WHEN ${numberIn(text)} IS NOT NULL THEN 1 WHEN ${text} < '0' THEN 0 WHEN ${isAddress(text)} THEN 2 ELSE 3 END`;
}
