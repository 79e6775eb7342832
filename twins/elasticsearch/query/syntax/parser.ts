/** The state that all clause readers share: fidelity, the position in the request, limits, and the dropped clauses. */

import { placeText } from "../../json/content-error.ts";
import type { ContentParser } from "../../json/content-parser.ts";
import type { JsonPath } from "../../json/position.ts";
import { didYouMean } from "../../vendor/did-you-mean.ts";
import { illegalArgument, type VendorError } from "../../vendor/error.ts";
import type { Fidelity } from "../../vendor/fidelity.ts";
import type { DroppedClause } from "../compiled-query.ts";
import { UnrecognisedQuery } from "../errors.ts";
import type { Query } from "./query.ts";

/** Reads the clause whose object begins at the current token, and stops at its end. */
type ClauseReader = (parser: Parser) => Query;

/** The known clauses. */
export interface Grammar {
  readonly readers: Readonly<Record<string, ClauseReader>>;
  /** The clauses that the specification lists. */
  readonly specified: ReadonlySet<string>;
  /** Clauses of the vendor that this twin does not support, each with the reason. */
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
   * @throws UnrecognisedQuery for an unknown shape; in `vendor` only for clauses that the vendor has and this twin does not
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
      // A query with two clauses goes to the model, even where one of them is invalid.
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
   * Reads a query, or drops it if it is unknown in `specification`. A dropped query counts as matching every document, or none where
   * it excludes, so that dropping never narrows the whole query.
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

  /** Reads a query that excludes its matches; nested exclusions include them again. */
  excluding<T>(read: () => T): T {
    this.#excludes = !this.#excludes;
    try {
      return read();
    } finally {
      this.#excludes = !this.#excludes;
    }
  }

  #reasonToDrop(name: string, json: unknown): string | undefined {
    if (!this.#names().includes(name)) return `[${name}] is not a clause of the Query DSL`;
    if (!this.#grammar.specified.has(name)) return `[${name}] is not among the clauses of the specification`;
    const body = isObject(json) ? json[name] : undefined;
    return isObject(body) ? undefined : `the body of [${name}] is not an object`;
  }

  #names(): string[] {
    return [...Object.keys(this.#grammar.readers), ...Object.keys(this.#grammar.unsupported)].sort();
  }

  /**
   * @param shape maps the error of an unknown shape
   * @param unserved maps the error of a clause that the vendor has and this twin does not support
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

  /** The error for an unknown or unsupported clause; `undefined` for a clause to read. */
  #refusal(name: string): VendorError | undefined {
    const { readers, specified, unsupported } = this.#grammar;
    const written = Object.hasOwn(readers, name);
    if (written && (this.fidelity === "vendor" || specified.has(name))) return undefined;
    if (Object.hasOwn(unsupported, name)) {
      return illegalArgument(`[${name}] query is not supported: ${unsupported[name]}`);
    }
    if (!written) return this.unknown(name, name);
    return illegalArgument(
      `[${name}] query is not among the clauses of the specification; set the fidelity to [vendor] to use it`,
    );
  }

  /**
   * The error for an unknown clause or function whose object begins at the current token.
   * @param clause the name in the message: the unknown clause, or the clause around the unknown function
   */
  unknown(name: string, clause: string, known: readonly string[] = this.#names()): VendorError {
    const { content } = this;
    return content.error(`unknown query [${clause}]${didYouMean(clause, known)}`, {
      type: "named_object_not_found_exception",
      reason: `[${placeText(content.location)}] unknown field [${name}]`,
    });
  }
}

/** A dropped clause. */
export interface Dropped {
  readonly kind: "dropped";
  /** Whether it counts as matching. */
  readonly matches: boolean;
}

/** The name of an object's only member; `undefined` for none or several. */
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
