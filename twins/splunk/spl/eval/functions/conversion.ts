/** Conversion functions. */
import { isIPv4 } from "node:net";
import { sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { textOf } from "../../relation/typed.ts";
import { singleText } from "../arithmetic.ts";
import { nothing, text } from "../value.ts";
import { grouped, printf } from "./printf.ts";
import { asText, constantText, type Entry, eachText, family, textual } from "./tools.ts";
import { typeEntries } from "./types.ts";

const masked = defineRowFunction("spl.ipmask", (mask, address) => {
  if (mask === null || address === null || !isIPv4(mask) || !isIPv4(address)) return null;
  const bytes = mask.split(".").map(Number);
  return address
    .split(".")
    .map((byte, index) => Number(byte) & (bytes[index] ?? 0))
    .join(".");
});

const printed = defineRowFunction("spl.printf", (format, ...values) =>
  format === null ? null : printf(format, values),
);

const shown = defineRowFunction("spl.tostring", (given, form) => {
  const value = given === null || given.trim() === "" ? Number.NaN : Number(given);
  if (given === null) return "Null";
  if (!Number.isFinite(value)) return given;
  switch (form) {
    case "hex":
      return `0x${BigInt.asUintN(64, BigInt(Math.trunc(value)))
        .toString(16)
        .toUpperCase()}`;
    case "binary":
      return BigInt.asUintN(64, BigInt(Math.trunc(value))).toString(2);
    case "commas":
      return commas(value);
    case "duration":
      return duration(value);
    default:
      return null;
  }
});

/** At most two digits behind the point. */
function commas(value: number): string {
  const rounded = Math.round(Math.abs(value) * 100) / 100;
  const text = Number.isInteger(rounded) ? BigInt(rounded).toString() : rounded.toFixed(2);
  return (value < 0 ? "-" : "") + grouped(text);
}

/** `1+02:03:04`, with microseconds when it has a fraction. */
export function duration(seconds: number): string {
  const micros = Math.round(Math.abs(seconds) * 1e6);
  const whole = Math.floor(micros / 1e6);
  const two = (value: number) => String(value).padStart(2, "0");
  const days = Math.floor(whole / 86_400);
  const clock = [Math.floor(whole / 3600) % 24, Math.floor(whole / 60) % 60, whole % 60].map(two).join(":");
  const fraction = micros % 1e6 === 0 ? "" : `.${String(micros % 1e6).padStart(6, "0")}`;
  return `${seconds < 0 ? "-" : ""}${days > 0 ? `${days}+` : ""}${clock}${fraction}`;
}

const forms = ["hex", "commas", "duration", "binary"];

const entries: readonly Entry[] = [
  {
    name: "ipmask",
    syntax: "ipmask(mask, ip)",
    summary: "The IPv4 address with a mask laid over it.",
    least: 2,
    most: 2,
    compile: ([mask = nothing, ip = nothing], use) =>
      eachText(ip, use, (one) => masked(textual(mask, use), one)),
  },
  {
    name: "printf",
    syntax: "printf(format, value1, …)",
    summary: "A text with values put into it: `%5.2f`.",
    least: 1,
    most: undefined,
    takesNull: true,
    compile: ([format = nothing, ...values], use) =>
      text(printed(textual(format, use), ...values.map((value) => asText(singleText(value))))),
  },
  {
    name: "tostring",
    syntax: 'tostring(value, ["hex" | "commas" | "duration" | "binary"])',
    summary: "A value as text; a number also in hexadecimal digits, with commas, or as a duration.",
    least: 1,
    most: 2,
    takesNull: true,
    compile([value = nothing, form], use) {
      const given = constantText(form);
      if (form === undefined) {
        if (value.multi) return text(textOf(value), true);
        return text(sql`coalesce(${textOf(value)}, 'Null')`);
      }
      if (value.type === "boolean" || (given !== undefined && !forms.includes(given.toLowerCase())))
        use.fail();
      const kind = given === undefined ? textual(form, use) : sql`CAST(${given.toLowerCase()} AS VARCHAR)`;
      return value.multi ? eachText(value, use, (one) => shown(one, kind)) : text(shown(textOf(value), kind));
    },
  },
];

export const conversionFunctions = family("conversion", [...entries, ...typeEntries]);
