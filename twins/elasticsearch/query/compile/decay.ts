/** Decay functions: 1 at the origin, falling with the distance. */
import { fieldValue } from "@offhook/log-store/fields";
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { parseDate } from "../../dates/date-math.ts";
import { illegalArgument } from "../../vendor/error.ts";
import type { QueryContext } from "../compiled-query.ts";
import { shardError } from "../errors.ts";
import type { Scalar, ScoreFunction } from "../syntax/query.ts";
import { targetOf } from "./target.ts";

type Decay = Extract<ScoreFunction, { kind: "decay" }>;

/** The factor of a document; 1 without the field. */
export function decaySql(context: QueryContext, written: Decay): Sql {
  const target = targetOf(context, written.field, "whole");
  if (target.kind !== "number" && target.kind !== "date") {
    throw target.kind === "missing"
      ? shardError(`failed to create query: unknown field [${written.field}]`)
      : shardError(
          `failed to create query: field [${written.field}] is of type [${target.kind}], but only numeric types are supported.`,
        );
  }
  const { origin, scale, offset } =
    target.kind === "date" ? dateMeasures(context, written) : numberMeasures(written);
  if (!(scale > 0)) throw illegalArgument("DecayFunctionBuilder function score: scale must be > 0.0.");
  if (offset < 0) throw illegalArgument("DecayFunctionBuilder function score: offset must be > 0.0");
  const toNumber = (value: Sql) =>
    target.kind === "date" ? sql`(CAST(epoch_us(${value}) AS DOUBLE) / 1000)` : sql`CAST(${value} AS DOUBLE)`;
  const column = fieldValue(target.field);
  const away = (value: Sql) =>
    sql`greatest(0::DOUBLE, abs(${toNumber(value)} - CAST(${origin} AS DOUBLE)) - CAST(${offset} AS DOUBLE))`;
  const mode = raw(`list_${written.multiValueMode}`);
  const distance = target.field.multi
    ? sql`${mode}(list_transform(${column}, lambda v: ${away(raw("v"))}))`
    : away(column);
  return sql`CASE WHEN ${column} IS NULL THEN 1 ELSE ${shapeSql(written, distance, scale)} END`;
}

function shapeSql({ shape, decay }: Decay, distance: Sql, scale: number): Sql {
  switch (shape) {
    case "gauss":
      return sql`exp(power(${distance}, 2) * CAST(${Math.log(decay) / scale ** 2} AS DOUBLE))`;
    case "exp":
      return sql`exp(${distance} * CAST(${Math.log(decay) / scale} AS DOUBLE))`;
    case "linear": {
      const reach = scale / (1 - decay);
      return sql`greatest(0::DOUBLE, (CAST(${reach} AS DOUBLE) - ${distance}) / CAST(${reach} AS DOUBLE))`;
    }
  }
}

interface Measures {
  readonly origin: number;
  readonly scale: number;
  readonly offset: number;
}

function numberMeasures({ origin, scale, offset }: Decay): Measures {
  if (origin === undefined)
    throw illegalArgument("both [scale] and [origin] must be set for numeric fields.");
  return { origin: Number(origin), scale: Number(scale), offset: Number(offset ?? 0) };
}

function dateMeasures({ nowMs }: QueryContext, { origin, scale, offset }: Decay): Measures {
  return {
    origin: origin === undefined ? nowMs : parseDate(String(origin), { nowMs, rounding: "first" }),
    scale: durationMs(scale),
    offset: offset === undefined ? 0 : durationMs(offset),
  };
}

const units = lookupTable<number>({
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  micros: 1e-3,
  nanos: 1e-6,
});

/** `10d`, `1.5h`, `500ms` */
function durationMs(written: Scalar): number {
  const found = /^(\d+(?:\.\d+)?)(d|h|m|s|ms|micros|nanos)$/i.exec(String(written).trim());
  const unit = units[(found?.[2] ?? "").toLowerCase()];
  if (!found || unit === undefined) {
    throw illegalArgument(
      `failed to parse setting [DecayFunctionParser.scale] with value [${String(written)}] as a time value: unit is missing or unrecognized`,
    );
  }
  return Number(found[1]) * unit;
}
