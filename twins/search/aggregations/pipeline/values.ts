/** What pipeline aggregations have in common. */
import { Double } from "../../json/numbers.ts";
import { readDecimalFormat } from "../decimal-format.ts";
import { argumentError } from "../errors.ts";
import type { Naming } from "../metrics.ts";
import type { Options } from "../options.ts";
import { type Members, type MetricResult, valueResult } from "../result.ts";

export type Print = ((value: number) => string) | undefined;

export function readPrint(options: Options): Print {
  const format = options.text("format");
  return format === undefined ? undefined : readDecimalFormat(format);
}

/** The one path of an aggregation. */
export function readSinglePath({ name }: Naming, options: Options): string {
  const paths = options.list("buckets_path");
  const [path, ...others] = paths ?? [];
  if (path === undefined) {
    throw argumentError(`Required one of fields [buckets_path], but none were specified. `);
  }
  if (typeof path !== "string" || others.length > 0) {
    throw argumentError(`buckets_path must contain a single entry for aggregation [${name}]`);
  }
  return path;
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
