/** The first record of a CSV file: the separator, and the names of the columns. */
import { brokenNameRule } from "../field-name.ts";
import { metadataFields } from "../fields.ts";
import type { Problems } from "./problems.ts";

/** The first wins when a header has equally many of two. */
const separators = [",", ";", "\t", "|"].map((character) => character.charCodeAt(0));
const QUOTE = 0x22;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

export const MAX_HEADER_BYTES = 1 << 20;

/** The index of the line feed that ends the first record; -1 when it has not arrived. */
export function endOfHeader(bytes: Uint8Array): number {
  let quoted = false;
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] === QUOTE) quoted = !quoted;
    else if (bytes[index] === NEWLINE && !quoted) return index;
  }
  return -1;
}

export interface CsvHeader {
  separator: number;
  names: string[];
}

/** @param header the first record without its line feed */
export function readHeader(header: Buffer, problems: Problems): CsvHeader {
  const record = header.at(-1) === RETURN ? header.subarray(0, -1) : header;
  if (record.includes(RETURN) && !record.includes(QUOTE)) {
    problems.add({
      line: 1,
      rule: "lines must end with a line feed, with or without a carriage return before it",
    });
  }
  const separator = findSeparator(record);
  const names = splitRecord(record.toString("utf8"), String.fromCharCode(separator));
  checkNames(names, problems);
  return { separator, names };
}

function findSeparator(record: Uint8Array): number {
  const counts = new Map<number, number>();
  let quoted = false;
  for (const byte of record) {
    if (byte === QUOTE) quoted = !quoted;
    else if (!quoted && separators.includes(byte)) counts.set(byte, (counts.get(byte) ?? 0) + 1);
  }
  let best = separators[0] ?? 0;
  for (const separator of separators) {
    if ((counts.get(separator) ?? 0) > (counts.get(best) ?? 0)) best = separator;
  }
  return best;
}

function splitRecord(record: string, separator: string): string[] {
  const values: string[] = [];
  let at = 0;
  while (at <= record.length) {
    let value = "";
    if (record[at] === '"') {
      at++;
      for (;;) {
        const end = record.indexOf('"', at);
        value += record.slice(at, end < 0 ? record.length : end);
        at = end < 0 ? record.length : end + 1;
        if (end < 0 || record[at] !== '"') break;
        value += '"';
        at++;
      }
    }
    const end = record.indexOf(separator, at);
    const stop = end < 0 ? record.length : end;
    values.push(value + record.slice(at, stop));
    at = stop + 1;
  }
  return values.map((name) => name.trim());
}

/** Columns that belong to the document, not to the event. */
const documentNames: ReadonlySet<string> = new Set(["_id", "_index"]);

function reservedName(name: string): string {
  return name === "_source"
    ? "a record of a CSV is an event, each value in a column; whole events in a column _source are to be sent as NDJSON"
    : `no field can be called "${name}"; leave the column out, or call it otherwise`;
}

function checkNames(names: readonly string[], problems: Problems): void {
  const seen = new Map<string, number>();
  names.forEach((name, index) => {
    if (name === "") {
      problems.add({ line: 1, rule: `the header must name every column; column ${index + 1} has no name` });
      return;
    }
    const broken = brokenNameRule(name);
    if (broken !== undefined) {
      const rule = `the name of column ${index + 1}, ${JSON.stringify(name.slice(0, 100))}, ${broken}`;
      problems.add({ line: 1, rule });
      return;
    }
    if (metadataFields.has(name) && !documentNames.has(name)) {
      problems.add({ line: 1, rule: reservedName(name) });
    }
    const before = seen.get(name);
    if (before === undefined) seen.set(name, index + 1);
    else {
      const rule = `the header names "${name.slice(0, 100)}" twice: columns ${before} and ${index + 1}`;
      problems.add({ line: 1, rule });
    }
  });
}
