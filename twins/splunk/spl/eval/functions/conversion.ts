/** Conversion functions. */
import { isIPv4 } from "node:net";
import { sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { textOf } from "../../relation/typed.ts";
import { singleText } from "../arithmetic.ts";
import { asList, nothing, text } from "../value.ts";
import { groupThousands, printf } from "./printf.ts";
import { asText, constantText, type Entry, family, mapText, textArgument } from "./tools.ts";
import { typeEntries } from "./types.ts";

const ipmask = defineRowFunction("spl.ipmask", (mask, address) => {
  if (mask === null || address === null || !isIPv4(mask) || !isIPv4(address)) return null;
  const bytes = mask.split(".").map(Number);
  return address
    .split(".")
    .map((byte, index) => Number(byte) & (bytes[index] ?? 0))
    .join(".");
});

const printfText = defineRowFunction("spl.printf", (format, ...values) =>
  format === null ? null : printf(format, values),
);

const tostring = defineRowFunction("spl.tostring", (given, form) => {
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
      return withCommas(value);
    case "duration":
      return formatDuration(value);
    default:
      return null;
  }
});

/** Rounded to two decimal places, with commas between thousands. */
function withCommas(value: number): string {
  const rounded = Math.round(Math.abs(value) * 100) / 100;
  const text = Number.isInteger(rounded) ? BigInt(rounded).toString() : rounded.toFixed(2);
  return (value < 0 ? "-" : "") + groupThousands(text);
}

/** `1+02:03:04`, with microseconds if there is a fraction. */
function formatDuration(seconds: number): string {
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
    summary: "The IPv4 address, masked.",
    minArgs: 2,
    maxArgs: 2,
    compile: ([mask = nothing, ip = nothing], use) =>
      mapText(ip, use, (one) => ipmask(textArgument(mask, use), one)),
  },
  {
    name: "printf",
    syntax: "printf(format, value1, …)",
    summary: "Values formatted as text: `%5.2f`.",
    minArgs: 1,
    maxArgs: undefined,
    takesNull: true,
    compile: ([format = nothing, ...values], use) =>
      text(printfText(textArgument(format, use), ...values.map((value) => asText(singleText(value))))),
  },
  {
    name: "tostring",
    syntax: 'tostring(value, ["hex" | "commas" | "duration" | "binary"])',
    summary: "A value as text; a number also in hexadecimal or binary digits, with commas, or as a duration.",
    minArgs: 1,
    maxArgs: 2,
    takesNull: true,
    compile([value = nothing, form], use) {
      const given = constantText(form);
      if (form === undefined) {
        if (value.multi) return asList(text(textOf(value)));
        return text(sql`coalesce(${textOf(value)}, 'Null')`);
      }
      if (value.type === "boolean" || (given !== undefined && !forms.includes(given.toLowerCase())))
        use.fail();
      const kind =
        given === undefined ? textArgument(form, use) : sql`CAST(${given.toLowerCase()} AS VARCHAR)`;
      return value.multi
        ? mapText(value, use, (one) => tostring(one, kind))
        : text(tostring(textOf(value), kind));
    },
  },
];

export const conversionFunctions = family("conversion", [...entries, ...typeEntries]);
