/** What every clause's reader shares: fidelity, how far the request has been read, limits, and what was dropped. */

import type { ContentParser } from "../../json/content-parser.ts";
import { didYouMean } from "../../vendor/did-you-mean.ts";
import { illegalArgument, type VendorError } from "../../vendor/error.ts";
import type { Fidelity } from "../../vendor/fidelity.ts";
import type { DroppedClause, JsonPath } from "../compiled-query.ts";
import { placeText, UnrecognisedQuery } from "../errors.ts";
import type { Query } from "./query.ts";

/** Reads a clause whose object begins at the current token, and stays at its end. */
export type ClauseReader = (parser: Parser) => Query;

/** Which clauses there are. */
export interface Grammar {
  readonly readers: Readonly<Record<string, ClauseReader>>;
  /** What the specification lists. */
  readonly specified: ReadonlySet<string>;
  /** Clauses of the vendor that this twin has not, each with the reason. */
  readonly unsupported: Readonly<Record<string, string>>;
}

/** `indices.query.bool.max_nested_depth` */
const MAX_DEPTH = 30;

export class Parser {
  readonly fidelity: Fidelity;
  readonly content: ContentParser;
  readonly dropped: DroppedClause[] = [];
  readonly #grammar: Grammar;
  #depth = 0;
  #excludes = false;

  constructor(grammar: Grammar, fidelity: Fidelity, content: ContentParser) {
    this.#grammar = grammar;
    this.fidelity = fidelity;
    this.content = content;
  }

  /**
   * Reads the query of a request.
   * @throws UnrecognisedQuery for a shape that is none of this twin's clauses; in `vendor` for those of the vendor alone
   */
  topLevel(): Query {
    const { content, fidelity } = this;
    const { json } = content;
    const unrecognised = (error: VendorError) => new UnrecognisedQuery(error, json);
    const shape = fidelity === "vendor" ? (error: VendorError) => error : unrecognised;
    if (content.token !== "START_OBJECT") {
      throw shape(content.error("[_na] query malformed, must start with start_object"));
    }
    const [first, second] = isObject(json) ? Object.keys(json) : [];
    if (fidelity === "specification" && second !== undefined) {
      // Of two clauses the model makes what it can, even where one of them is wrong.
      throw unrecognised(
        content.error(`[${first}] malformed query, expected [END_OBJECT] but found [FIELD_NAME]`),
      );
    }
    return this.#query(shape, unrecognised);
  }

  /** Reads a query inside another: at the current token, or at the next one. @throws VendorError */
  clause(): Query {
    return this.#query(
      (error) => error,
      (error) => error,
    );
  }

  /**
   * Reads a query that may be left out: in `specification`, one that is not known is. What it might have matched is taken as
   * matched, and where it excludes as not matched, so that leaving it out never narrows the whole query.
   */
  clauseOrDrop(): Query | Dropped {
    if (this.fidelity === "vendor") return this.clause();
    const { json, path } = this.content;
    const name = this.content.token === "START_OBJECT" ? soleName(json) : undefined;
    const reason = name === undefined ? undefined : this.#reasonToDrop(name, json);
    if (name === undefined || reason === undefined) return this.clause();
    this.content.skipChildren();
    this.dropped.push({ clause: name, path: pathText(path), reason });
    return { kind: "dropped", matches: !this.#excludes };
  }

  /** Reads what excludes the documents that it matches, or, within such a query, includes them again. */
  excluding<T>(read: () => T): T {
    this.#excludes = !this.#excludes;
    try {
      return read();
    } finally {
      this.#excludes = !this.#excludes;
    }
  }

  #reasonToDrop(name: string, json: unknown): string | undefined {
    if (!this.#names().includes(name)) return `[${name}] is no clause of the Query DSL`;
    if (!this.#grammar.specified.has(name)) return `[${name}] is not among the clauses of the specification`;
    const body = isObject(json) ? json[name] : undefined;
    return isObject(body) ? undefined : `the body of [${name}] is no object`;
  }

  #names(): string[] {
    return [...Object.keys(this.#grammar.readers), ...Object.keys(this.#grammar.unsupported)].sort();
  }

  /**
   * @param shape what becomes of the error of a query whose shape is unknown
   * @param unserved what becomes of that of a clause of the vendor's that this twin does not serve
   */
  #query(shape: (error: VendorError) => VendorError, unserved: (error: VendorError) => VendorError): Query {
    const { content } = this;
    if (content.token !== "START_OBJECT" && content.next() !== "START_OBJECT") {
      throw shape(content.error("[_na] query malformed, must start with start_object"));
    }
    if (content.next() === "END_OBJECT") {
      throw illegalArgument(`query malformed, empty clause found at [${content.place}]`);
    }
    const { name } = content;
    if (content.next() !== "START_OBJECT") {
      throw shape(content.error(`[${name}] query malformed, no start_object after query name`));
    }
    const refusal = this.#refusal(name);
    if (refusal) {
      throw Object.hasOwn(this.#grammar.unsupported, name) ? unserved(refusal) : shape(refusal);
    }
    const query = this.#read(name);
    for (const place of ["clause", "query"]) {
      if (place === "query") content.next();
      if (content.token === "END_OBJECT") continue;
      throw shape(
        content.error(`[${name}] malformed query, expected [END_OBJECT] but found [${content.token}]`),
      );
    }
    return query;
  }

  #read(name: string): Query {
    const read = this.#grammar.readers[name];
    if (!read) throw this.unknown(name, name);
    if (++this.#depth > MAX_DEPTH) {
      throw illegalArgument(
        "The nested depth of the query exceeds the maximum nested depth for queries set in [indices.query.bool.max_nested_depth]",
      );
    }
    try {
      return read(this);
    } finally {
      this.#depth--;
    }
  }

  /** Why a clause is not read, if it is not. */
  #refusal(name: string): VendorError | undefined {
    const { readers, specified, unsupported } = this.#grammar;
    const written = Object.hasOwn(readers, name);
    if (written && (this.fidelity === "vendor" || specified.has(name))) return undefined;
    if (Object.hasOwn(unsupported, name)) {
      return illegalArgument(`[${name}] query is not supported: ${unsupported[name]}`);
    }
    if (!written) return this.unknown(name, name);
    return illegalArgument(
      `[${name}] query is not among the clauses of the specification; fidelity [vendor] has it`,
    );
  }

  /**
   * A clause, or a function in it, that is none; the current token is the start of its object.
   * @param clause that the message names: the one that is unknown, or the one around the unknown function
   */
  unknown(name: string, clause: string, known: readonly string[] = this.#names()): VendorError {
    const { content } = this;
    return content.error(`unknown query [${clause}]${didYouMean(clause, known)}`, {
      type: "named_object_not_found_exception",
      reason: `[${placeText(content.location)}] unknown field [${name}]`,
    });
  }
}

/** A clause that was left out. */
export interface Dropped {
  readonly kind: "dropped";
  /** Whether it is taken to match. */
  readonly matches: boolean;
}

/** The name of an object's one member; `undefined` when it has none or several. */
function soleName(json: unknown): string | undefined {
  if (!isObject(json)) return undefined;
  const [first, second] = Object.keys(json);
  return second === undefined ? first : undefined;
}

export function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** `query.bool.must[0]` */
function pathText(path: JsonPath): string {
  return `query${path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("")}`;
}
