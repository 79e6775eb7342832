/** `printf` formats. */
import { lookupTable } from "@offhook/platform/base/lookup-table";

const directive = /%([-+ 0#']*)(\*|[1-9]\d*)?(?:\.(\*|\d+)?)?([diouxXpeEfFgGaAszc%])/g;

/** Conversions equal to another one. */
const aliases = lookupTable<string>({ z: "s", p: "X" });

/** Formats values. A missing value prints as `Null`. @returns null if a value is no number where one is needed */
export function printf(format: string, values: readonly (string | null)[]): string | null {
  let next = 0;
  let failed = false;
  const take = () => values[next++];
  const size = (written: string | undefined) =>
    written === "*" ? Number(take() ?? 0) : Number(written ?? 0);
  const result = format.replace(
    directive,
    (
      whole: string,
      flags: string,
      width: string | undefined,
      precision: string | undefined,
      written: string,
    ) => {
      const kind = aliases[written] ?? written;
      if (kind === "%") return "%";
      const minWidth = size(width);
      const digits = whole.includes(".") ? size(precision) : undefined;
      const value = take();
      if (value === undefined) {
        failed = true;
        return "";
      }
      const text = formatValue(value, kind, flags, digits);
      if (text === undefined) failed = true;
      const padding =
        flags.includes("-") || minWidth < 0
          ? "right"
          : flags.includes("0") && kind !== "s"
            ? "zeros"
            : "left";
      return pad(text ?? "", Math.min(Math.abs(minWidth), 1_000), padding);
    },
  );
  return failed ? null : result;
}

/** @param padding blanks on one side, or zeros after the sign */
function pad(text: string, width: number, padding: "left" | "right" | "zeros"): string {
  if (padding === "right") return text.padEnd(width);
  if (padding === "left") return text.padStart(width);
  const [sign = ""] = /^[-+ ]?(?:0[xX])?/.exec(text) ?? [];
  return sign + text.slice(sign.length).padStart(width - sign.length, "0");
}

function formatValue(
  value: string | null,
  kind: string,
  flags: string,
  digits: number | undefined,
): string | undefined {
  if (kind === "s") return (value ?? "Null").slice(0, digits ?? undefined);
  if (kind === "c") return formatCharacter(value);
  const number = value === null || value.trim() === "" ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) return undefined;
  const size = "diouxX".includes(kind)
    ? formatInteger(number, kind, flags, digits)
    : kind === "a" || kind === "A"
      ? formatHexadecimal(Math.abs(number), kind, digits)
      : formatDecimal(Math.abs(number), kind, digits, flags.includes("#") ? "alternate" : "plain");
  if ("oxXu".includes(kind)) return size;
  const sign =
    number < 0 || Object.is(number, -0) ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  return sign + (flags.includes("'") ? groupThousands(size) : size);
}

/** The first character of a text, or the character of a code point. */
function formatCharacter(value: string | null): string | undefined {
  if (value === null || !/^\d{1,7}$/.test(value)) return [...(value ?? "")][0] ?? "";
  const code = Number(value);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

function formatInteger(number: number, kind: string, flags: string, digits: number | undefined): string {
  if (digits === 0 && Math.trunc(number) === 0) return "";
  const whole = BigInt(Math.trunc(number));
  const size = kind === "d" || kind === "i" ? (whole < 0n ? -whole : whole) : BigInt.asUintN(64, whole);
  const base = kind === "o" ? 8 : kind === "x" || kind === "X" ? 16 : 10;
  const text = size.toString(base).padStart(Math.min(digits ?? 0, 1_000), "0");
  if (base === 8 && flags.includes("#") && !text.startsWith("0")) return `0${text}`;
  if (base !== 16) return text;
  const prefixed = flags.includes("#") && size !== 0n ? `0x${text}` : text;
  return kind === "X" ? prefixed.toUpperCase() : prefixed;
}

/** The flag `#`: always a decimal point, and the trailing zeros of `%g`. */
type DecimalForm = "plain" | "alternate";

function formatDecimal(size: number, kind: string, digits: number | undefined, form: DecimalForm): string {
  const places = Math.min(digits ?? 6, 100);
  const text =
    kind === "f" || kind === "F"
      ? formatFixed(size, places)
      : kind === "e" || kind === "E"
        ? formatExponent(size, places)
        : formatGeneral(size, places, form);
  const pointed = form === "alternate" && !text.includes(".") ? text.replace(/(?=e|$)/, ".") : text;
  return kind === "E" || kind === "G" ? pointed.toUpperCase() : pointed;
}

/** Like `toFixed`, which switches to an exponent from 1e21. */
function formatFixed(size: number, places: number): string {
  if (size < 1e21) return size.toFixed(places);
  return BigInt(size).toString() + (places > 0 ? `.${"0".repeat(places)}` : "");
}

/** `0x1.922p+1`: the exact digits of the double. */
function formatHexadecimal(size: number, kind: string, digits: number | undefined): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, size);
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  let fraction = bits & 0xfffffffffffffn;
  let lead = biased === 0 ? 0n : 1n;
  const power = size === 0 ? 0 : biased === 0 ? -1022 : biased - 1023;
  let text = fraction.toString(16).padStart(13, "0");
  if (digits === undefined) text = text.replace(/0+$/, "");
  else if (digits < 13) {
    const unit = 1n << BigInt(4 * (13 - digits));
    const all = (lead << 52n) | fraction;
    const [whole, rest] = [all / unit, all % unit];
    const up = rest * 2n > unit || (rest * 2n === unit && whole % 2n === 1n);
    const rounded = (up ? whole + 1n : whole) * unit;
    lead = rounded >> 52n;
    fraction = rounded & 0xfffffffffffffn;
    text = fraction.toString(16).padStart(13, "0").slice(0, digits);
  } else text = text.padEnd(Math.min(digits, 100), "0");
  const written = `0x${lead}${text === "" ? "" : `.${text}`}p${power < 0 ? "-" : "+"}${Math.abs(power)}`;
  return kind === "A" ? written.toUpperCase() : written;
}

function formatExponent(size: number, places: number): string {
  return size.toExponential(places).replace(/e([+-])(\d)$/, "e$10$2");
}

/** `%g`: the shorter of both forms. */
function formatGeneral(size: number, digits: number, form: DecimalForm): string {
  const precision = Math.max(digits, 1);
  const power = size === 0 ? 0 : Number(size.toExponential(precision - 1).split("e")[1]);
  const text =
    power < -4 || power >= precision
      ? formatExponent(size, precision - 1)
      : size.toFixed(Math.min(precision - 1 - power, 100));
  return text.includes(".") && form === "plain" ? text.replace(/\.?0+(?=e|$)/, "") : text;
}

/** Inserts commas between thousands. */
export function groupThousands(text: string): string {
  return text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
}
