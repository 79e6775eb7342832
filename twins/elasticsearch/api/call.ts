/** A request of the vendor's API, read as the vendor reads it. */
import type { VendorRequest } from "@offhook/platform/http/operation";
import { ContentParser } from "../json/content-parser.ts";
import { type Json, type JsonObject, readJson } from "../json/read.ts";
import { tokenOf } from "../json/token.ts";
import type { DroppedClause } from "../query/compiled-query.ts";
import { locateIn } from "../query/json-position.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { Parameters } from "../vendor/parameters.ts";

/** What the journal says of a request beyond what was sent. */
export interface SearchNotes {
  /** The statements it became, in their order. */
  sql?: string[];
  /** What `specification` left out. */
  dropped?: DroppedClause[];
  /** What the translator did, each time that it was asked. */
  translator?: object[];
}

export class Call {
  readonly request: VendorRequest;
  readonly parameters: Parameters;
  readonly notes: SearchNotes = {};

  constructor(request: VendorRequest) {
    this.request = request;
    this.parameters = new Parameters(request.query);
  }

  /** Aborted when the client has gone. */
  get signal(): AbortSignal {
    return this.request.signal;
  }

  /** A `:name` segment of the path. */
  segment(name: string): string {
    return this.request.params[name] ?? "";
  }

  /** The text of the body, or of `?source=`. */
  text(): string {
    if (this.request.body.length > 0) return this.request.body.toString("utf8");
    const source = this.parameters.text("source");
    if (source === undefined) return "";
    if (!this.parameters.has("source_content_type")) {
      throw illegalArgument("source and source_content_type parameters are required");
    }
    return source;
  }

  /** The body as JSON; `undefined` when there is none. @throws VendorError */
  json(): Json | undefined {
    const text = this.text();
    return text.trim() === "" ? undefined : readJson(text);
  }

  /** The body as a JSON object; an empty one when there is none. @throws VendorError */
  object(): JsonObject {
    const json = this.json();
    if (json === undefined) return {};
    if (isObject(json)) return json;
    throw new VendorError(400, {
      type: "parsing_exception",
      reason: `Expected [START_OBJECT] but found [${tokenOf(json)}]`,
      line: 1,
      col: 1,
    });
  }

  /** The same body, to be read token by token. @throws VendorError */
  content(): ContentParser {
    return new ContentParser(this.object(), locateIn(this.text(), []));
  }

  noteSql(statements: readonly string[]): void {
    this.notes.sql = [...(this.notes.sql ?? []), ...statements];
  }

  noteTranslation(what: object): void {
    this.notes.translator = [...(this.notes.translator ?? []), what];
  }

  noteDropped(dropped: readonly DroppedClause[]): void {
    if (dropped.length > 0) this.notes.dropped = [...(this.notes.dropped ?? []), ...dropped];
  }
}

export function isObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
