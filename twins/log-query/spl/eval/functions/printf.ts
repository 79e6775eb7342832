/** `printf` formats. */

const directive = /%([-+ 0#']*)(\*|\d+)?(?:\.(\*|\d+)?)?([diouxXeEfFgGsc%])/g;

/** What a text says with values put into it; a value that is missing is `Null`, and a number that is none makes no text. */
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
      kind: string,
    ) => {
      if (kind === "%") return "%";
      const least = size(width);
      const digits = whole.includes(".") ? size(precision) : undefined;
      const value = take();
      if (value === undefined) {
        failed = true;
        return "";
      }
      const text = formatted(value, kind, flags, digits);
      if (text === undefined) failed = true;
      const left = flags.includes("-") || least < 0;
      return padded(text ?? "", Math.min(Math.abs(least), 1_000), left, flags.includes("0") && kind !== "s");
    },
  );
  return failed ? null : result;
}

function padded(text: string, width: number, left: boolean, zeros: boolean): string {
  if (left) return text.padEnd(width);
  if (!zeros) return text.padStart(width);
  const [sign = ""] = /^[-+ ]?(?:0[xX])?/.exec(text) ?? [];
  return sign + text.slice(sign.length).padStart(width - sign.length, "0");
}

function formatted(
  value: string | null,
  kind: string,
  flags: string,
  digits: number | undefined,
): string | undefined {
  if (kind === "s") return (value ?? "Null").slice(0, digits ?? undefined);
  if (kind === "c") return (value ?? "").slice(0, 1);
  const number = value === null || value.trim() === "" ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) return undefined;
  const size = "diouxX".includes(kind)
    ? integer(number, kind, flags, digits)
    : decimal(Math.abs(number), kind, digits);
  if ("oxXu".includes(kind)) return size;
  const sign =
    number < 0 || Object.is(number, -0) ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  return sign + (flags.includes("'") ? grouped(size) : size);
}

function integer(number: number, kind: string, flags: string, digits = 0): string {
  const whole = BigInt(Math.trunc(number));
  const size = kind === "d" || kind === "i" ? (whole < 0n ? -whole : whole) : BigInt.asUintN(64, whole);
  const base = kind === "o" ? 8 : kind === "x" || kind === "X" ? 16 : 10;
  const text = size.toString(base).padStart(Math.min(digits, 1_000), "0");
  if (base !== 16) return text;
  const prefixed = flags.includes("#") ? `0x${text}` : text;
  return kind === "X" ? prefixed.toUpperCase() : prefixed;
}

function decimal(size: number, kind: string, digits = 6): string {
  const places = Math.min(digits, 100);
  const text =
    kind === "f" || kind === "F"
      ? size.toFixed(places)
      : kind === "e" || kind === "E"
        ? exponent(size, places)
        : general(size, places);
  return kind === "E" || kind === "G" ? text.toUpperCase() : text;
}

function exponent(size: number, places: number): string {
  return size.toExponential(places).replace(/e([+-])(\d)$/, "e$10$2");
}

/** In the shorter form, without zeros at the end. */
function general(size: number, digits: number): string {
  const precision = Math.max(digits, 1);
  const power = size === 0 ? 0 : Number(size.toExponential(precision - 1).split("e")[1]);
  const text =
    power < -4 || power >= precision
      ? exponent(size, precision - 1)
      : size.toFixed(Math.min(precision - 1 - power, 100));
  return text.includes(".") ? text.replace(/\.?0+(?=e|$)/, "") : text;
}

/** With a comma between thousands. */
export function grouped(text: string): string {
  return text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
}
