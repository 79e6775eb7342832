/**
 * Lines of an export: `{"_index", "_id", "_source": {…}}`, as the hits of a search and elasticdump have them. The event is
 * what stands at `_source`; id and index are the document's.
 */
import { z } from "zod";
import { EventProblem } from "./event-problem.ts";

/** What a hit can have beside its source. */
const envelope = z.strictObject({
  _index: z.string().min(1).optional(),
  _id: z.string().min(1).optional(),
  _source: z.record(z.string(), z.unknown()),
  _type: z.unknown().optional(),
  _score: z.unknown().optional(),
  _version: z.unknown().optional(),
  _seq_no: z.unknown().optional(),
  _primary_term: z.unknown().optional(),
  _routing: z.unknown().optional(),
  _ignored: z.unknown().optional(),
  ignored_field_values: z.unknown().optional(),
  sort: z.unknown().optional(),
  fields: z.unknown().optional(),
  highlight: z.unknown().optional(),
  matched_queries: z.unknown().optional(),
});

export interface ExportedHit {
  id: Uint8Array;
  index: Uint8Array;
  /** Where the event stands in the line. */
  source: { start: number; end: number };
}

const mark = Buffer.from('"_source"');
const nothing = Buffer.alloc(0);

/** The parts of a line that is a hit; `undefined` for any other line. @throws EventProblem for half a hit. */
export function readExportedHit(bytes: Buffer, start: number, end: number): ExportedHit | undefined {
  const line = bytes.subarray(start, end);
  if (!line.includes(mark)) return undefined;
  const at = memberValue(line, mark);
  if (at === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch {
    // The parser that reads it as an event says where it is wrong.
    return undefined;
  }
  const hit = envelope.safeParse(value);
  if (!hit.success) {
    const where = hit.error.issues[0];
    const name = where?.code === "unrecognized_keys" ? where.keys[0] : where?.path.join(".");
    throw new EventProblem(
      start,
      `a line with _source is a hit of an export, and "${name}" does not fit into one`,
    );
  }
  const { _id, _index } = hit.data;
  return {
    id: _id === undefined ? nothing : Buffer.from(_id),
    index: _index === undefined ? nothing : Buffer.from(_index),
    source: { start: start + at.start, end: start + at.end },
  };
}

/** Where the value of a member of the outermost object stands. The line need not be JSON. */
function memberValue(line: Buffer, name: Buffer): { start: number; end: number } | undefined {
  let depth = 0;
  let start: number | undefined;
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    if (byte === 0x22) {
      const end = endOfString(line, at);
      if (depth === 1 && start === undefined && line.subarray(at, end).equals(name)) {
        start = afterColon(line, end);
        if (start !== undefined) at = start - 1;
        else at = end - 1;
      } else at = end - 1;
    } else if (byte === 0x7b || byte === 0x5b) depth++;
    else if (byte === 0x7d || byte === 0x5d) {
      depth--;
      if (start !== undefined && depth === 1) return { start, end: at + 1 };
    }
  }
  return undefined;
}

/** The index after the closing quote. */
function endOfString(line: Buffer, open: number): number {
  for (let at = open + 1; at < line.length; at++) {
    if (line[at] === 0x5c) at++;
    else if (line[at] === 0x22) return at + 1;
  }
  return line.length;
}

/** Where an object begins after a colon; `undefined` when none does. */
function afterColon(line: Buffer, from: number): number | undefined {
  let at = from;
  while (at < line.length && (line[at] ?? 0) <= 0x20) at++;
  if (line[at] !== 0x3a) return undefined;
  at++;
  while (at < line.length && (line[at] ?? 0) <= 0x20) at++;
  return line[at] === 0x7b ? at : undefined;
}
