/** A request of the vendor's API, read as the vendor reads it. */
import type { VendorRequest } from "@offhook/platform/http/operation";
import { ContentParser } from "../json/content-parser.ts";
import { readJsonObject } from "../json/object.ts";
import { locateIn } from "../json/position.ts";
import { type Json, type JsonObject, readJson } from "../json/read.ts";
import { openSearch, type SearchContext, type SearchEngine } from "../search/context.ts";
import { SearchNotes } from "../search/search-notes.ts";
import { illegalArgument } from "../vendor/error.ts";
import { Parameters } from "../vendor/parameters.ts";

export class Call {
  readonly request: VendorRequest;
  readonly parameters: Parameters;
  readonly notes = new SearchNotes();

  constructor(request: VendorRequest) {
    this.request = request;
    this.parameters = new Parameters(request.query);
  }

  /** Aborted when the client disconnects. */
  get signal(): AbortSignal {
    return this.request.signal;
  }

  /** Opens a search on behalf of this request. @param signal the client's own when absent */
  openSearch(engine: SearchEngine, signal = this.signal): Promise<SearchContext> {
    return openSearch(engine, { notes: this.notes, signal, text: this.text() });
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
    const text = this.text();
    return text.trim() === "" ? {} : readJsonObject(text);
  }

  /** The same body, to be read token by token. @throws VendorError */
  content(): ContentParser {
    return new ContentParser(this.object(), locateIn(this.text(), []));
  }
}
