/** Members and results that pipeline aggregations share. */
import { parsingErrorAt } from "../../json/located-error.ts";
import { Double } from "../../json/numbers.ts";
import type { JsonPath } from "../../json/position.ts";
import { textOf } from "../../json/token.ts";
import type { Naming } from "../build.ts";
import { readDecimalFormat } from "../decimal-format.ts";
import { argumentError } from "../errors.ts";
import type { JsonRecord, Options } from "../options.ts";
import { type Members, type MetricResult, valueResult } from "../result.ts";
import type { Member } from "../syntax/declared.ts";

export type Print = ((value: number) => string) | undefined;

export function readPrint(options: Options): Print {
  const format = options.text("format");
  return format === undefined ? undefined : readDecimalFormat(format);
}

/** One path or a list. */
export const pathsMember: Member = {
  tokens: ["START_ARRAY", "VALUE_STRING"],
  read: (value) => (Array.isArray(value) ? value.map(textOf) : [value]),
};

/** @throws VendorError for an unknown policy */
export const gapPolicyMember: Member = {
  tokens: ["VALUE_STRING"],
  read(value, { path }) {
    checkGapPolicy(textOf(value), path);
    return value;
  },
};

export function checkGapPolicy(policy: string, path: JsonPath): void {
  if (policy === "skip" || policy === "insert_zeros" || policy === "keep_values") return;
  const reason = `Invalid gap policy: [${policy}], accepted values: [insert_zeros, skip, keep_values]`;
  throw parsingErrorAt({ path, what: "value" }, reason);
}

/** Reads the path of an aggregation that takes exactly one. */
export function readSinglePath({ name }: Naming, options: Options): string {
  const [path, ...others] = options.list("buckets_path") ?? [];
  if (typeof path === "string" && others.length === 0) return path;
  throw argumentError(`buckets_path must contain a single entry for aggregation [${name}]`);
}

/** Checks `buckets_path` at the end of the object. @throws VendorError when it is missing */
export function requirePath({ buckets_path: path }: JsonRecord): void {
  if (path === undefined) throw argumentError("Required [buckets_path]");
}

export function simpleValue(
  { type, meta }: Naming,
  value: number,
  print: Print,
  more: Members = [],
): MetricResult {
  const exists = Number.isFinite(value);
  const typeName = type === "derivative" ? "derivative" : "simple_value";
  return valueResult({ typeName, meta }, value, [
    ["value", exists ? new Double(value) : null],
    ...(exists && print ? ([["value_as_string", print(value)]] as const) : []),
    ...more,
  ]);
}
