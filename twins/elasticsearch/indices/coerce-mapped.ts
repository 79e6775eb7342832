/** Coerces a written value to the type of its mapped field. */
import { utc } from "@offhook/log-store/dates/time-zone";
import type { FieldType, NewField } from "@offhook/log-store/fields";
import { coerce } from "@offhook/log-store/store/coerce";
import type { Coerced } from "@offhook/log-store/store/column-value";
import type { Leaf } from "@offhook/log-store/store/json-leaves";
import { defaultDateFormat, readDateFormat } from "../dates/java-format.ts";
import { isFalse } from "../json/flag.ts";
import type { JsonObject } from "../json/read.ts";
import { fractionOf } from "./fraction.ts";
import { ignoreAbove } from "./mapped-field.ts";
import type { FieldNode } from "./mapping-tree.ts";

const ranges = new Map<string, [least: bigint, greatest: bigint]>([
  ["integer", [-(2n ** 31n), 2n ** 31n - 1n]],
  ["short", [-(2n ** 15n), 2n ** 15n - 1n]],
  ["byte", [-(2n ** 7n), 2n ** 7n - 1n]],
]);
/** Largest finite `half_float`. */
const MAX_HALF = 65_504;

/** @param node the mapping of the field */
export function coerceMapped(leaf: Leaf, field: NewField, node: FieldNode): Coerced {
  const { type, parameters } = node;
  if (field.type === "keyword") {
    if ([...leaf.text].length > ignoreAbove(parameters)) return { value: undefined };
    return { value: field.mapping?.normalize?.(leaf.text) ?? leaf.text };
  }
  if (field.type === "date") return coerceDate(leaf, field);
  if (field.type !== "long" && field.type !== "double" && field.type !== "unsigned_long") {
    return coerce(leaf, field);
  }
  if (isFalse(parameters.coerce)) {
    const reason = coercionError(leaf, type, field.type);
    if (reason !== undefined) return { kind: "not_a_number", reason };
  }
  const coerced = coerce(leaf, field);
  if (!("value" in coerced)) {
    return coerced.kind === "not_finite"
      ? { ...coerced, reason: coerced.reason.replace("[double]", `[${type}]`) }
      : coerced;
  }
  const { value } = coerced;
  if (typeof value === "bigint") {
    const range = ranges.get(type);
    const outside = range && (value < range[0] || value > range[1]);
    return outside
      ? {
          kind: "out_of_range",
          reason: `Value [${leaf.text}] is out of range for ${type === "integer" ? "an" : "a"} ${type}`,
        }
      : coerced;
  }
  return typeof value === "number" ? fitDouble(value, type, parameters) : coerced;
}

function coercionError({ kind, text }: Leaf, type: string, held: FieldType): string | undefined {
  const named = type.charAt(0).toUpperCase() + type.slice(1);
  if (kind === "string") return `${named} value passed as String`;
  return held === "long" && kind === "decimal" && !Number.isInteger(Number(text))
    ? `${text} cannot be converted to ${named} without data loss`
    : undefined;
}

/** Rounds a number to the precision of its type. */
function fitDouble(value: number, type: string, parameters: JsonObject): Coerced {
  const unfit = (shown: string): Coerced => ({
    kind: "not_finite",
    reason: `[${type}] supports only finite values, but got [${shown}]`,
  });
  switch (type) {
    case "float": {
      const single = fractionOf(type, value, parameters);
      return Number.isFinite(single) ? { value: single } : unfit(value > 0 ? "Infinity" : "-Infinity");
    }
    case "half_float": {
      const half = fractionOf(type, value, parameters);
      return Math.abs(half) <= MAX_HALF
        ? { value: half }
        : unfit(Number.isInteger(value) ? `${value}.0` : String(value));
    }
    default:
      return { value: fractionOf(type, value, parameters) };
  }
}

function coerceDate(leaf: Leaf, field: NewField): Coerced {
  const format = field.mapping?.format;
  if (format === undefined || format === defaultDateFormat) {
    if (leaf.kind === "string" && leaf.text === "") {
      return { kind: "not_a_date", reason: "cannot parse empty datetime" };
    }
    // Dates of a dataset may also be in the second format of date detection.
    return leaf.text.includes("/") ? notOfFormat(leaf, defaultDateFormat) : coerce(leaf, field);
  }
  const epochMs = leaf.kind === "boolean" ? undefined : readDateFormat(format).parse(leaf.text, utc, "first");
  if (epochMs !== undefined) return { value: BigInt(epochMs) * 1000n };
  return notOfFormat(leaf, format);
}

function notOfFormat({ text }: Leaf, format: string): Coerced {
  return { kind: "not_a_date", reason: `failed to parse date field [${text}] with format [${format}]` };
}
