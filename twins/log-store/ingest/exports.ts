/**
 * Lines of exports, which wrap the event in an envelope.
 * - Elasticsearch's `{"_index", "_id", "_source": {…}}`, as search hits and elasticdump have it: the event is at `_source`; id and
 *   index are the document's.
 * - Splunk's `{"preview", "offset", "lastrow", "result": {…}}`, as `search/jobs/export` and Splunk Web have it: the event is at
 *   `result`. https://docs.splunk.com/Documentation/Splunk/latest/Search/ExportdatausingRESTAPI
 * - The body of a bulk request, with an action on the line before each event.
 *   https://www.elastic.co/guide/en/elasticsearch/reference/8.15/docs-bulk.html
 */
import { z } from "zod";
import { EventProblem } from "./problems.ts";

/** The members of a hit. */
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

/** The members of a line of Splunk's export. A search without results gives one line without a result. */
const splunkEnvelope = z.strictObject({
  preview: z.boolean(),
  offset: z.number().optional(),
  lastrow: z.boolean().optional(),
  result: z.record(z.string(), z.unknown()).optional(),
});

export interface ExportedEvent {
  id: Uint8Array;
  index: Uint8Array;
  /** The event's range in the line. */
  event: { start: number; end: number };
}

/** The members of an action of a bulk request. */
const bulkTarget = z.strictObject({
  _index: z.string().min(1).optional(),
  _id: z.union([z.string().min(1), z.number()]).optional(),
  _type: z.unknown().optional(),
  routing: z.unknown().optional(),
  pipeline: z.unknown().optional(),
  version: z.unknown().optional(),
  version_type: z.unknown().optional(),
  if_seq_no: z.unknown().optional(),
  if_primary_term: z.unknown().optional(),
  dynamic_templates: z.unknown().optional(),
  require_alias: z.unknown().optional(),
  require_data_stream: z.unknown().optional(),
});
const bulkAction = z.union([
  z.strictObject({ index: bulkTarget }).transform(({ index }) => index),
  z.strictObject({ create: bulkTarget }).transform(({ create }) => create),
]);
const bulkChange = z.union([z.strictObject({ update: bulkTarget }), z.strictObject({ delete: bulkTarget })]);

/** The place of a document of a bulk request; empty where its action names none. */
export interface BulkTarget {
  id: Uint8Array;
  index: Uint8Array;
}

/** Whether a file that begins with this line is the body of a bulk request. */
export function beginsBulk(line: Buffer): boolean {
  const value = parse(line);
  return bulkAction.safeParse(value).success || bulkChange.safeParse(value).success;
}

/**
 * The action before a document.
 * @throws EventProblem for any other line: what follows it is not known
 */
export function readBulkAction(bytes: Buffer, start: number, end: number): BulkTarget {
  const value = parse(bytes.subarray(start, end));
  const action = bulkAction.safeParse(value);
  if (action.success) {
    const { _id, _index } = action.data;
    return { id: Buffer.from(String(_id ?? "")), index: Buffer.from(_index ?? "") };
  }
  throw new EventProblem(
    start,
    bulkChange.safeParse(value).success
      ? "a dataset is made of the actions index and create; update and delete change documents that are there: send the body to /_bulk"
      : "the file is the body of a bulk request, whose line here is to be the action index or create of the document after it",
  );
}

const sourceMark = Buffer.from('"_source"');
const previewMark = Buffer.from('"preview"');
const resultMark = Buffer.from('"result"');
const nothing = Buffer.alloc(0);

/**
 * The event of a line of an export; `undefined` for any other line.
 * @throws EventProblem for a malformed hit, and for a preview, whose events are not final
 */
export function readExport(
  bytes: Buffer,
  start: number,
  end: number,
): ExportedEvent | "no event" | undefined {
  return readHit(bytes, start, end) ?? readResult(bytes, start, end);
}

/**
 * The problem of a file that is one JSON text with events inside, and how to extract them; `undefined` for any other file.
 * @param line the first of the file
 */
export function wrappedEvents(line: Buffer): string | undefined {
  if (line[0] === 0x5b) {
    return "the file is a JSON array; NDJSON has one event a line: jq -c '.[]' FILE makes it";
  }
  for (const { mark, path, what } of wrappers) {
    if (line.includes(mark) && Array.isArray(valueAt(parse(line), path))) {
      return `the file is ${what}, which holds events and is none; jq -c '.${path.join(".")}[]' FILE has them, one a line`;
    }
  }
  return undefined;
}

const wrappers = [
  { mark: '"hits"', path: ["hits", "hits"], what: "the answer to an Elasticsearch search" },
  { mark: '"init_offset"', path: ["results"], what: "the answer to a Splunk search" },
] as const;

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === "object" && inner !== null
        ? Object.entries(inner).find(([key]) => key === name)?.[1]
        : undefined,
    value,
  );
}

function readResult(bytes: Buffer, start: number, end: number): ExportedEvent | "no event" | undefined {
  const line = bytes.subarray(start, end);
  if (!line.includes(previewMark)) return undefined;
  const read = splunkEnvelope.safeParse(parse(line));
  if (!read.success) return undefined;
  if (read.data.preview) {
    throw new EventProblem(
      start,
      "the line is of a preview, not of the result; export it with preview=false",
    );
  }
  const at = memberValue(line, resultMark);
  if (at === undefined) return "no event";
  return { id: nothing, index: nothing, event: { start: start + at.start, end: start + at.end } };
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString("utf8"));
  } catch {
    // The event parser reports where the JSON is wrong.
    return undefined;
  }
}

function readHit(bytes: Buffer, start: number, end: number): ExportedEvent | undefined {
  const line = bytes.subarray(start, end);
  if (!line.includes(sourceMark)) return undefined;
  const at = memberValue(line, sourceMark);
  if (at === undefined) return undefined;
  const value = parse(line);
  if (value === undefined) return undefined;
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
    event: { start: start + at.start, end: start + at.end },
  };
}

/** The range of an object that is a member of the outermost object. The line need not be valid JSON. */
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

/** The start of an object after a colon; `undefined`: there is none. */
function afterColon(line: Buffer, from: number): number | undefined {
  let at = from;
  while (at < line.length && (line[at] ?? 0) <= 0x20) at++;
  if (line[at] !== 0x3a) return undefined;
  at++;
  while (at < line.length && (line[at] ?? 0) <= 0x20) at++;
  return line[at] === 0x7b ? at : undefined;
}
