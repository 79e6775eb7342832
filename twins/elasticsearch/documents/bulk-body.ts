/**
 * Reads the body of a bulk request: lines of JSON, each action followed by its document.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/docs-bulk.html
 */

import { isTrue } from "../json/flag.ts";
import { type Json, type JsonObject, readJson } from "../json/read.ts";
import { tokenOf } from "../json/token.ts";
import { illegalArgument } from "../vendor/error.ts";
import type { Conditions, VersionType } from "./action.ts";

type BulkKind = "index" | "create" | "update" | "delete";

/** One action of the body. */
export interface BulkItem {
  kind: BulkKind;
  /** Absent: the index of the URL. */
  index: string | undefined;
  id: string | undefined;
  conditions: Conditions;
  requireAlias: boolean;
  pipeline: string | undefined;
  /** The line after the action's; empty for a `delete`. */
  source: string;
}

const kinds = new Set<string>(["index", "create", "update", "delete"]);
const isKind = (name: string): name is BulkKind => kinds.has(name);

/** Bounds a body of tiny actions. */
const MAX_ITEMS = 1_000_000;

/** @throws VendorError naming the line */
export function readBulkBody(body: Buffer): BulkItem[] {
  const lines = new Lines(body);
  const items: BulkItem[] = [];
  for (let text = lines.next(); text !== undefined; text = lines.next()) {
    if (text.trim() === "") continue;
    const item = readAction(text, lines.number);
    if (item.kind !== "delete") {
      const source = lines.next();
      if (source === undefined)
        throw illegalArgument("The bulk request must be terminated by a newline [\\n]");
      item.source = source;
    }
    items.push(item);
    if (items.length > MAX_ITEMS)
      throw illegalArgument(`A bulk request may have at most ${MAX_ITEMS} actions`);
  }
  return items;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

class Lines {
  readonly #body: Buffer;
  #at = 0;
  number = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** @throws VendorError when the last line does not end with a newline */
  next(): string | undefined {
    if (this.#at >= this.#body.length) return undefined;
    const end = this.#body.indexOf(NEWLINE, this.#at);
    if (end < 0) throw illegalArgument("The bulk request must be terminated by a newline [\\n]");
    const last = end > this.#at && this.#body[end - 1] === RETURN ? end - 1 : end;
    const line = this.#body.toString("utf8", this.#at, last);
    this.#at = end + 1;
    this.number++;
    return line;
  }
}

function readAction(text: string, line: number): BulkItem {
  const json = readJson(text);
  const where = `Malformed action/metadata line [${line}]`;
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw illegalArgument(`${where}, expected START_OBJECT but found [${tokenOf(json)}]`);
  }
  const [entry, other] = Object.entries(json);
  if (!entry) throw illegalArgument(`${where}, expected FIELD_NAME but found [END_OBJECT]`);
  const [kind, metadata] = entry;
  if (!isKind(kind)) {
    throw illegalArgument(
      `${where}, expected field [create], [delete], [index] or [update] but found [${kind}]`,
    );
  }
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    throw illegalArgument(`${where}, expected START_OBJECT but found [${tokenOf(metadata)}]`);
  }
  if (other) throw illegalArgument(`${where}, expected END_OBJECT but found [FIELD_NAME]`);
  return readMetadata(kind, metadata, line);
}

function readMetadata(kind: BulkKind, metadata: JsonObject, line: number): BulkItem {
  const item: BulkItem = {
    kind,
    index: undefined,
    id: undefined,
    conditions: { versionType: "internal" },
    requireAlias: false,
    pipeline: undefined,
    source: "",
  };
  for (const [name, value] of Object.entries(metadata)) {
    if (name === "dynamic_templates") continue;
    if (typeof value === "object" && value !== null) {
      throw illegalArgument(
        `Malformed action/metadata line [${line}], expected a simple value for field [${name}] but found [${tokenOf(value)}]`,
      );
    }
    if (!readMember(item, name, value)) {
      throw illegalArgument(`Action/metadata line [${line}] contains an unknown parameter [${name}]`);
    }
  }
  return item;
}

/** @returns false for an unknown member */
function readMember(item: BulkItem, name: string, value: Json): boolean {
  const text = value === null ? undefined : String(value);
  switch (name) {
    case "_index":
      item.index = text;
      return true;
    case "_id":
      item.id = text;
      return true;
    case "op_type":
      if (text === "create" || text === "index") item.kind = text;
      else throw illegalArgument(`opType must be 'create' or 'index', found: [${text}]`);
      return true;
    case "version":
      item.conditions.version = Number(value);
      return true;
    case "version_type":
      item.conditions.versionType = readVersionType(text ?? "internal");
      return true;
    case "if_seq_no":
      item.conditions.ifSeqNo = Number(value);
      return true;
    case "if_primary_term":
      item.conditions.ifPrimaryTerm = Number(value);
      return true;
    case "pipeline":
      item.pipeline = text;
      return true;
    case "require_alias":
      item.requireAlias = isTrue(value);
      return true;
    case "routing":
    case "retry_on_conflict":
    case "_source":
    case "list_executed_pipelines":
      return true;
    default:
      return false;
  }
}

/** @throws VendorError */
export function readVersionType(text: string): VersionType {
  if (text === "internal" || text === "external" || text === "external_gte") return text;
  throw illegalArgument(`No version type match [${text}]`);
}
