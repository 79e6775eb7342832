/** Reads CSV (RFC 4180): quoted values may contain commas, line breaks and doubled quotes. */

/** All records, the header included. Empty lines are skipped. */
export function readCsvRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    const value = valueAt(text, at);
    record.push(value.text);
    at = value.end;
    const separator = text[at];
    at += text.startsWith("\r\n", at) ? 2 : 1;
    if (separator === "," && at < text.length) continue;
    if (separator === ",") record.push("");
    if (record.length > 1 || record[0] !== "") records.push(record);
    record = [];
  }
  return records;
}

function valueAt(text: string, start: number): { text: string; end: number } {
  if (text[start] !== '"') {
    const end = endOfPlain(text, start);
    return { text: text.slice(start, end), end };
  }
  let value = "";
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return { text: value + text.slice(at), end: text.length };
    value += text.slice(at, quote);
    at = quote + 1;
    if (text[at] !== '"') break;
    value += '"';
    at++;
  }
  const end = endOfPlain(text, at);
  return { text: value + text.slice(at, end), end };
}

function endOfPlain(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === "," || text[at] === "\n" || text[at] === "\r") return at;
  }
  return text.length;
}
