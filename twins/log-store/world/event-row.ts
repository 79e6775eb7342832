/**
 * An event as a row of a world: its own members, with `_id`, `_index`, `_version` and `_seq_no`. Parsed JSON loses details of the text
 * (integers beyond 2^53, `1.0`, spaces, escapes), so a row has the text as `_source` where its members would not reproduce it.
 */
import type { Problem, Row } from "@offhook/platform/world/world";
import type { LoadedDocument, StoredDocument } from "../store/log-store.ts";
import { isJsonObject, readJsonObject } from "./json-object.ts";

/** Columns that are not the event's own. */
export const ownColumns = ["_id", "_index", "_version", "_seq_no", "_source"] as const;
const own: ReadonlySet<string> = new Set(ownColumns);

export function rowOf({ id, index, version, seqNo, source }: StoredDocument): Row {
  const row: Row = { _id: id, _index: index, _version: version, _seq_no: seqNo };
  const text = JSON.stringify(JSON.parse(source));
  // Parsed again, since serializing changes values: -0 becomes 0, and an infinity becomes null.
  const event = JSON.parse(text) as Row;
  const members = Object.keys(event);
  const isComplete = members.every((name) => !own.has(name)) && text === source;
  if (!isComplete) row._source = source;
  for (const name of members) if (!own.has(name)) setMember(row, name, event[name]);
  return row;
}

/** A document, or the problems of its row. */
export type RowReading = { document: LoadedDocument } | { problems: Omit<Problem, "table" | "row">[] };

/** @param index of a row that names none */
export function readRow(row: unknown, index: string): RowReading {
  if (!isJsonObject(row)) return { problems: [{ value: row, rule: "a row is an object" }] };
  const problems: Omit<Problem, "table" | "row">[] = [];
  const addProblem = (column: string, rule: string) => problems.push({ column, value: row[column], rule });
  const { _id, _index = index, _version, _seq_no, _source } = row;
  if (_id !== undefined && (typeof _id !== "string" || _id === ""))
    addProblem("_id", "must be text, not empty");
  if (typeof _index !== "string" || _index === "") addProblem("_index", "must be text, not empty");
  if (_version !== undefined && !isCount(_version, 1)) addProblem("_version", "must be an integer from 1");
  if (_seq_no !== undefined && !isCount(_seq_no, 0)) addProblem("_seq_no", "must be an integer from 0");
  const source = sourceOf(row, _source, addProblem);
  if (problems.length > 0 || source === undefined) return { problems };
  return {
    document: {
      ...(typeof _id === "string" && { id: _id }),
      index: String(_index),
      source,
      ...(typeof _version === "number" && { version: _version }),
      ...(typeof _seq_no === "number" && { seqNo: _seq_no }),
    },
  };
}

function sourceOf(
  row: Readonly<Row>,
  given: unknown,
  addProblem: (column: string, rule: string) => void,
): string | undefined {
  const members: Row = {};
  for (const name of Object.keys(row)) if (!own.has(name)) setMember(members, name, row[name]);
  if (given === undefined) return JSON.stringify(members);
  const event = typeof given === "string" ? readJsonObject(given) : undefined;
  if (typeof given !== "string" || !event) {
    addProblem("_source", "must be the event as JSON text, an object");
    return undefined;
  }
  for (const name of Object.keys(members)) {
    if (JSON.stringify(members[name]) !== JSON.stringify(event[name])) {
      addProblem(name, "differs from _source; leave _source out to change the event");
    }
  }
  return given;
}

function isCount(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least;
}

/** Assigning to `__proto__` would set the prototype instead of a member. */
function setMember(row: Row, name: string, value: unknown): void {
  if (name !== "__proto__") row[name] = value;
  else Object.defineProperty(row, name, { value, enumerable: true, writable: true, configurable: true });
}
