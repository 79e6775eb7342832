/**
 * Date math in index names: `<logs-{now/d-1d{yyyy.MM.dd|+01:00}}>`.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/api-conventions.html#api-date-math-index-names
 */
import { parseDate } from "../dates/date-math.ts";
import { formatDate } from "../dates/java-format.ts";
import { VendorError } from "../vendor/error.ts";

const DEFAULT_FORMAT = "uuuu.MM.dd";

/** Resolves the dates of a name in angle brackets; other names stay as they are. @throws VendorError */
export function resolveDateMath(name: string, nowMs: number): string {
  const excluded = name.startsWith("-<");
  const bare = excluded ? name.slice(1) : name;
  if (!bare.startsWith("<") || !bare.endsWith(">")) return name;
  return (excluded ? "-" : "") + fill(bare.slice(1, -1), nowMs, bare);
}

function fill(text: string, nowMs: number, whole: string): string {
  let filled = "";
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\\") filled += text.charAt(++at);
    else if (character === "{") {
      const end = closingBrace(text, at);
      if (end < 0) throw invalidName(whole, "date math placeholder is open ended");
      filled += dateOf(text.slice(at + 1, end), nowMs, whole);
      at = end;
    } else if (character === "}") throw invalidName(whole, `invalid character at position [${at}]`);
    else filled += character;
  }
  if (filled === "") throw invalidName(whole, "nothing captured");
  return filled;
}

/** Index of the brace that closes the one at `open`; -1 when none does. */
function closingBrace(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text.charAt(at) === "{") depth++;
    else if (text.charAt(at) === "}" && --depth === 0) return at;
  }
  return -1;
}

function dateOf(placeholder: string, nowMs: number, whole: string): string {
  const open = placeholder.indexOf("{");
  const math = open < 0 ? placeholder : placeholder.slice(0, open);
  const inner = open < 0 ? "" : placeholder.slice(open + 1);
  if (open >= 0 && !inner.endsWith("}")) throw invalidName(whole, "missing closing `}` for date math format");
  const [format = "", timeZone] = inner.slice(0, -1).split("|");
  if (open >= 0 && format === "") throw invalidName(whole, "missing date format");
  const zone = timeZone === undefined ? {} : { timeZone };
  const epochMs = parseDate(math, { nowMs, rounding: "first", ...zone });
  return formatDate(epochMs, format || DEFAULT_FORMAT, timeZone);
}

function invalidName(name: string, why: string): VendorError {
  return new VendorError(400, {
    type: "parse_exception",
    reason: `invalid dynamic name expression [${name}]. ${why}`,
  });
}
