/**
 * Implicit casts: a constant string becomes a date, address, version or boolean where one is expected. Strings in
 * columns do not.
 */

import { utc } from "@offhook/log-store/dates/time-zone";
import { parseIp } from "@offhook/log-store/ip-address";
import { readDateFormat } from "../dates/java-format.ts";
import type { Compiler } from "./compiler.ts";
import { versionFromTextSql } from "./functions/version.ts";
import { ipTyped } from "./ip-sql.ts";
import { type Constant, constantTyped, type Typed, unknownTyped } from "./typed.ts";
import type { DataType, TypeSet } from "./types.ts";

/** @param beside the other operand */
export function convertLiteral(compiler: Compiler, value: Typed, beside: Typed): Typed {
  return castConstant(compiler, value, beside.type);
}

/** @param types accepted by the parameter */
export function convertLiteralTo(compiler: Compiler, value: Typed, { types }: TypeSet): Typed {
  if (types.has("keyword")) return value;
  const target = (["datetime", "ip"] as const).find((type) => types.has(type));
  return target && types.size <= 6 ? castConstant(compiler, value, target) : value;
}

function castConstant(compiler: Compiler, value: Typed, type: DataType): Typed {
  const { constant, at } = value;
  if (constant?.type !== "keyword") return value;
  if (type === "datetime") {
    const epochMs = readDate(constant.value);
    if (epochMs !== undefined) return constantTyped({ type, value: epochMs }, at);
    compiler.problems.mismatch(
      at,
      `Cannot convert string [${constant.value}] to [DATETIME], error [failed to parse date field [${constant.value}] with format [strict_date_optional_time]]`,
    );
    return unknownTyped(at);
  }
  if (type === "ip") {
    const address = parseIp(constant.value);
    if (address !== undefined) return ipTyped(address, at);
    compiler.problems.mismatch(
      at,
      `Cannot convert string [${constant.value}] to [IP], error ['${constant.value}' is not an IP string literal.]`,
    );
    return unknownTyped(at);
  }
  if (type === "boolean") {
    const truth: Constant = { type, value: constant.value.toLowerCase() === "true" };
    return constantTyped(truth, at);
  }
  if (type === "version") return { ...value, type, sql: versionFromTextSql(value.sql), constant: undefined };
  return value;
}

/** Parses a date in the vendor's default format to milliseconds since the epoch. */
export function readDate(text: string): number | undefined {
  return readDateFormat("strict_date_optional_time").parse(text, utc, "first");
}
