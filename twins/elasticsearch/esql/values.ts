/** Values of an answer in the vendor's notation. */

import { formatIp } from "@offhook/log-store/ip-address";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { formatDate } from "../dates/java-format.ts";
import { Double } from "../json/numbers.ts";
import { readExactJson } from "../json/read.ts";
import { formatVersion } from "./functions/version.ts";
import type { DataType } from "./types.ts";

/** Converts a value for JSON; a list of one becomes its value. */
export function outputValue(value: ResultValue, type: DataType): unknown {
  if (!Array.isArray(value)) return outputScalar(value, type);
  const items = value.filter((item) => item !== null).map((item) => outputScalar(item, type));
  if (items.length === 0) return null;
  return items.length === 1 ? items[0] : items;
}

function outputScalar(value: ResultValue, type: DataType): unknown {
  if (value === null) return null;
  switch (type) {
    case "double":
      return Number.isFinite(value) ? new Double(Number(value)) : null;
    case "datetime":
      return isoDate(Math.floor(Number(value)));
    case "ip":
      return typeof value === "bigint" || typeof value === "number" ? formatIp(BigInt(value)) : null;
    case "version":
      return formatVersion(String(value));
    case "source":
      return readExactJson(String(value));
    default:
      return value;
  }
}

function isoDate(epochMs: number): string {
  return formatDate(epochMs, "strict_date_optional_time");
}
