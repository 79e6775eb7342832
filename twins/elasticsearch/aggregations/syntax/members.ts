/** Kinds of members for declared objects. */
import { readTimeZone } from "../../dates/read-time-zone.ts";
import { javaDouble } from "../../json/java-number.ts";
import { jacksonErrorAt, LocatedError } from "../../json/located-error.ts";
import { doubleText } from "../../json/numbers.ts";
import { jacksonTokenOf, textOf, tokenOf } from "../../json/token.ts";
import { VendorError } from "../../vendor/error.ts";
import { argumentError } from "../errors.ts";
import { isRecord, MAX_ITEMS } from "../options.ts";
import {
  contentError,
  failedAt,
  type Member,
  type Place,
  readDeclared,
  type Syntax,
  unbuildable,
} from "./declared.ts";

const STRING = "VALUE_STRING";
const NUMBER = "VALUE_NUMBER";
const BOOLEAN = "VALUE_BOOLEAN";
const NULL = "VALUE_NULL";
const OBJECT = "START_OBJECT";
const ARRAY = "START_ARRAY";

type Check<Value> = (value: Value, place: Place) => void;

/** A text. @param check throws for an invalid one */
export function text(check?: Check<string>): Member {
  return {
    tokens: [STRING],
    read(value, place) {
      check?.(textOf(value), place);
      return value;
    },
  };
}

/** A number, possibly written as text. */
export function double(check?: Check<number>): Member {
  return {
    tokens: [NUMBER, STRING],
    read(value, place) {
      const number = typeof value === "string" ? javaDouble(value) : Number(value);
      check?.(number, place);
      return number;
    },
  };
}

export const MAX_INTEGER = 2 ** 31 - 1;

/** A whole number; a fraction is truncated. */
export function integer(check?: Check<number>): Member {
  return whole("int", check);
}

export function long(check?: Check<number>): Member {
  return whole("long", check);
}

const wholeTypes = {
  int: { least: -(2n ** 31n), most: 2n ** 31n - 1n, described: "an integer" },
  long: { least: -(2n ** 63n), most: 2n ** 63n - 1n, described: "a long" },
};

function whole(type: keyof typeof wholeTypes, check: Check<number> | undefined): Member {
  const { least, most, described } = wholeTypes[type];
  return {
    tokens: [NUMBER, STRING],
    read(value, place) {
      const number = typeof value === "string" ? javaDouble(value) : Number(value);
      if (Math.trunc(number) < least || Math.trunc(number) > most) {
        if (typeof value === "string")
          throw argumentError(`Value [${value}] is out of range for ${described}`);
        const reason = `Numeric value (${textOf(value)}) out of range of ${type} (${least} - ${most})`;
        throw jacksonErrorAt(place.path, value, reason, "input_coercion_exception");
      }
      check?.(Math.trunc(number), place);
      return number;
    },
  };
}

/** `[size] must be greater than 0. Found [-1] in [name]` */
export function positive(name: string): Check<number> {
  return (value, place) => {
    if (value <= 0)
      throw argumentError(`[${name}] must be greater than 0. Found [${value}] in [${place.name}]`);
  };
}

export function notNegative(name: string): Check<number> {
  return (value, place) => {
    if (value >= 0) return;
    throw argumentError(`[${name}] must be greater than or equal to 0. Found [${value}] in [${place.name}]`);
  };
}

/** A boolean, possibly written as text. */
export const flag: Member = {
  tokens: [BOOLEAN, STRING],
  read(value) {
    if (typeof value === "boolean") return value;
    if (value === "true" || value === "false") return value === "true";
    throw argumentError(`Failed to parse value [${textOf(value)}] as only [true] or [false] are allowed.`);
  },
};

/** One number or a list. */
export const doubles: Member = {
  tokens: [ARRAY, NUMBER, STRING],
  read(value, { path }) {
    if (!Array.isArray(value)) return [typeof value === "string" ? javaDouble(value) : Number(value)];
    checkLength(value);
    return value.map((item, index) => {
      try {
        return doubleIn(item, [...path, index]);
      } catch (error) {
        if (!(error instanceof VendorError) || error instanceof LocatedError) throw error;
        throw failedAt({ path: [...path, index], what: "value" }, error.cause);
      }
    });
  },
};

function checkLength(items: readonly unknown[]): void {
  if (items.length <= MAX_ITEMS) return;
  throw argumentError(`[${items.length}] values are more than the [${MAX_ITEMS}] that are answered`);
}

function doubleIn(item: unknown, path: Place["path"]): number {
  if (typeof item === "string") return javaDouble(item);
  if (typeof item === "number" || typeof item === "bigint") return Number(item);
  if (Array.isArray(item)) {
    throw new VendorError(400, {
      type: "illegal_state_exception",
      reason: "expected value but got [START_ARRAY]",
    });
  }
  const reason = `Current token (${jacksonTokenOf(item)}) not numeric, can not use numeric value accessors`;
  throw jacksonErrorAt(path, item, reason, "json_parse_exception");
}

/** A scalar that substitutes a missing value. */
const missing: Member = {
  tokens: [STRING, NUMBER, BOOLEAN, NULL],
  read(value, { name }) {
    if (value === null) throw argumentError(`[missing] must not be null: [${name}]`);
    return value;
  },
};

/** A zone's name or offset, or a number of hours. */
export const timeZone: Member = {
  tokens: [STRING, NUMBER],
  read(value) {
    if (typeof value === "string") {
      readTimeZone(value);
      return value;
    }
    const hours = Math.trunc(Number(value));
    if (Math.abs(hours) > 18) {
      throw new VendorError(400, {
        type: "date_time_exception",
        reason: `Zone offset hours not in valid range: value ${hours} is not in the range -18 to 18`,
      });
    }
    return `${hours < 0 ? "-" : "+"}${String(Math.abs(hours)).padStart(2, "0")}:00`;
  },
};

/** Accepted by the syntax; building refuses it, since the twin runs no scripts. */
export const script: Member = { tokens: [OBJECT, STRING], read: (value) => value };

const knownValueTypes = new Set(
  "string long double number date boolean ip numeric unsigned_long geo_point range".split(" "),
);
const valueType = text((name) => {
  if (!knownValueTypes.has(name)) throw argumentError(`Unknown value type [${name}]`);
});

/** The type of a field's values, with its former name. */
export const valueTypes = { value_type: valueType, valueType: { ...valueType, as: "value_type" } };

/** Members of every aggregation over a field. */
export const valueMembers = { field: text(), missing, ...valueTypes, script };
/** The same for aggregations with formatted results. */
export const formattedMembers = { ...valueMembers, format: text() };
export const fieldOrScript = [["field", "script"]];

/** An object with declared members. @param parser its name in errors */
export function object(parser: string, syntax: Syntax): Member {
  return {
    tokens: [OBJECT],
    read: (value, place) => readDeclared(parser, syntax, isRecord(value) ? value : {}, place),
  };
}

/** One object with declared members, or a list. */
export function objects(parser: string, syntax: Syntax): Member {
  return {
    tokens: [OBJECT, ARRAY],
    read(value, place) {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      checkLength(items);
      return items.map((item, index) => {
        const path = Array.isArray(value) ? [...place.path, index] : place.path;
        if (isRecord(item)) return readDeclared(parser, syntax, item, { ...place, path });
        throw objectExpected(parser, items, index, place);
      });
    },
  };
}

/** The error for an item other than an object. The vendor's parser skips one token first, and reports the one behind. */
function objectExpected(
  parser: string,
  items: readonly unknown[],
  index: number,
  { path }: Place,
): VendorError {
  if (Array.isArray(items[index])) {
    return failedAt(
      { path: [...path, index], what: "value" },
      {
        type: "illegal_state_exception",
        reason: "expected value but got [START_ARRAY]",
      },
    );
  }
  const last = index + 1 === items.length;
  const cursor = last
    ? { path, what: "end" as const }
    : { path: [...path, index + 1], what: "value" as const };
  const token = last ? "END_ARRAY" : tokenOf(items[index + 1]);
  return contentError(cursor, `[${parser}] Expected START_OBJECT but was: ${token}`);
}

/** Two optional numbers. */
export const doubleBounds: Member = object("double_bounds", {
  members: { min: bound("max"), max: bound("min") },
});

/** @param other the bound that may precede it */
function bound(other: "min" | "max"): Member {
  return {
    tokens: [NUMBER, STRING, NULL],
    read(value, _, before) {
      if (value === null) return undefined;
      const number = typeof value === "string" ? javaDouble(value) : Number(value);
      const earlier = before[other];
      if (typeof earlier !== "number") return number;
      const [min, max] = other === "min" ? [earlier, number] : [number, earlier];
      if (min <= max) return number;
      throw unbuildable("double_bounds", {
        type: "illegal_argument_exception",
        reason:
          "Cannot instantiate an object of org.elasticsearch.search.aggregations.bucket.histogram.DoubleBounds",
        caused_by: {
          type: "invocation_target_exception",
          reason: null,
          caused_by: {
            type: "illegal_argument_exception",
            reason: `max bound [${doubleText(max)}] must be greater than min bound [${doubleText(min)}]`,
          },
        },
      });
    },
  };
}

/** Two optional moments, as numbers or in the field's format. */
export const dateBounds: Member = object("bounds", { members: { min: moment(), max: moment() } });

function moment(): Member {
  return {
    tokens: [NUMBER, STRING, NULL],
    read(value) {
      if (value === null) return undefined;
      if (typeof value === "number" && !Number.isInteger(value)) {
        throw argumentError(`${value} cannot be converted to Long without data loss`);
      }
      return value;
    },
  };
}
