/** Prints numbers like the vendor: a double is `1.0`, never `1`. */

/** A double in an answer: `12.0`, `1.0E7`. Source: Java's `Double.toString`. */
export class Double {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** A single-precision number in an answer, such as a score: `0.2876821`. Source: Java's `Float.toString`. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** The shortest digits that read back as the same double. */
export function doubleText(value: number): string {
  return Number.isFinite(value) ? javaText(value.toExponential()) : `"${nonFinite(value)}"`;
}

/** The shortest digits that read back as the same single-precision number. */
export function floatText(value: number): string {
  const single = Math.fround(value);
  if (!Number.isFinite(single)) return `"${nonFinite(single)}"`;
  for (let digits = 0; digits < 9; digits++) {
    const text = single.toExponential(digits);
    if (Math.fround(Number(text)) === single) return javaText(text);
  }
  return javaText(single.toExponential());
}

/** The name of a number without JSON notation. */
function nonFinite(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

/** Plain from 10^-3 up to 10^7, with an exponent otherwise; always with a digit behind the point. */
function javaText(exponential: string): string {
  const [mantissa = "0", power = "0"] = exponential.split("e");
  const negative = mantissa.startsWith("-");
  const digits = mantissa.replace("-", "").replace(".", "").replace(/0+$/, "") || "0";
  const exponent = Number(power);
  const sign = negative ? "-" : "";
  if (digits === "0") return `${sign}0.0`;
  if (exponent >= -3 && exponent < 7) {
    if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
    const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
    return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
  }
  return `${sign}${digits.charAt(0)}.${digits.slice(1) || "0"}E${exponent}`;
}
