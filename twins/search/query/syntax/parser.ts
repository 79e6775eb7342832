/** What every clause's reader shares: fidelity, where things stand in the request, limits, and what was dropped. */

import type { VendorError } from "../../vendor-error.ts";
import type { DroppedClause, Fidelity, JsonPath, Locate, Position } from "../compiled-query.ts";
import { contentError, illegalArgument, parsingError, UnrecognisedQuery } from "../errors.ts";
import { didYouMean } from "../suggest.ts";
import type { Query } from "./query.ts";

/** @param path of the body, the clause's name included */
export type ClauseReader = (parser: Parser, body: Record<string, unknown>, path: JsonPath) => Query;

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
  readonly dropped: DroppedClause[] = [];
  readonly #grammar: Grammar;
  readonly #locate: Locate | undefined;
  #depth = 0;
  #excludes = false;

  constructor(grammar: Grammar, fidelity: Fidelity, locate: Locate | undefined) {
    this.#grammar = grammar;
    this.fidelity = fidelity;
    this.#locate = locate;
  }

  at(path: JsonPath, what: "name" | "value" = "value"): Position | undefined {
    return this.#locate?.(path, what);
  }

  /**
   * Reads the query of a request.
   * @throws UnrecognisedQuery for a shape that is none of this twin's clauses; in `vendor` for those of the vendor alone
   */
  topLevel(json: unknown): Query {
    const unrecognised = (error: VendorError) => new UnrecognisedQuery(error, json);
    const ofVendor = this.fidelity === "vendor";
    const [name, body] = this.#clauseOf(json, [], ofVendor ? (error) => error : unrecognised);
    const refusal = this.#refusal(name, []);
    if (!refusal) return this.#read(name, body, []);
    throw ofVendor && !Object.hasOwn(this.#grammar.unsupported, name) ? refusal : unrecognised(refusal);
  }

  /** Reads a query inside another. */
  clause(json: unknown, path: JsonPath): Query {
    const [name, body] = this.#clauseOf(json, path, (error) => error);
    const refusal = this.#refusal(name, path);
    if (refusal) throw refusal;
    return this.#read(name, body, path);
  }

  /**
   * Reads a query that may be left out: in `specification`, one that is not known is. What it might have matched is taken as
   * matched, and where it excludes as not matched, so that leaving it out never narrows the whole query.
   */
  clauseOrDrop(json: unknown, path: JsonPath): Query | Dropped {
    if (this.fidelity === "vendor") return this.clause(json, path);
    const name = soleName(json);
    const reason = name === undefined ? undefined : this.#reasonToDrop(name, json);
    if (name === undefined || reason === undefined) return this.clause(json, path);
    this.dropped.push({ clause: name, path: `query${pathText(path)}`, reason });
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

  #read(name: string, body: Record<string, unknown>, path: JsonPath): Query {
    const read = this.#grammar.readers[name];
    if (!read) throw this.#unknown(name, path);
    if (++this.#depth > MAX_DEPTH) {
      throw illegalArgument(
        "The nested depth of the query exceeds the maximum nested depth for queries set in [indices.query.bool.max_nested_depth]",
      );
    }
    try {
      return read(this, body, [...path, name]);
    } finally {
      this.#depth--;
    }
  }

  /** Why a clause is not read, if it is not. */
  #refusal(name: string, path: JsonPath): VendorError | undefined {
    const { readers, specified, unsupported } = this.#grammar;
    const written = Object.hasOwn(readers, name);
    if (written && (this.fidelity === "vendor" || specified.has(name))) return undefined;
    if (Object.hasOwn(unsupported, name)) {
      return illegalArgument(`[${name}] query is not supported: ${unsupported[name]}`);
    }
    if (!written) return this.#unknown(name, path);
    return illegalArgument(
      `[${name}] query is not among the clauses of the specification; fidelity [vendor] has it`,
    );
  }

  #unknown(name: string, path: JsonPath) {
    const at = this.at([...path, name]);
    return parsingError(`unknown query [${name}]${didYouMean(name, this.#names())}`, at, {
      type: "named_object_not_found_exception",
      reason: `[${at ? `${at.line}:${at.col}` : "-1:-1"}] unknown field [${name}]`,
    });
  }

  /** The one member of a clause's object. */
  #clauseOf(
    json: unknown,
    path: JsonPath,
    wrap: (error: VendorError) => VendorError,
  ): [name: string, body: Record<string, unknown>] {
    if (!isObject(json)) {
      throw wrap(parsingError("[_na] query malformed, must start with start_object", this.at(path)));
    }
    const [first, second] = Object.keys(json);
    if (first === undefined) {
      const at = this.at(path);
      const where = at ? ` at [${at.line}:${at.col + 1}]` : "";
      throw illegalArgument(`query malformed, empty clause found${where}`);
    }
    if (second !== undefined) {
      const reason = `[${first}] malformed query, expected [END_OBJECT] but found [FIELD_NAME]`;
      throw wrap(parsingError(reason, this.at([...path, second], "name")));
    }
    const body = json[first];
    if (!isObject(body)) {
      const reason = `[${first}] query malformed, no start_object after query name`;
      throw wrap(parsingError(reason, this.at([...path, first])));
    }
    return [first, body];
  }

  /** `[range] query does not support [foo]` */
  unsupported(clause: string, option: string, path: JsonPath) {
    return parsingError(`[${clause}] query does not support [${option}]`, this.at(path));
  }

  /** A value of a kind that the vendor's reader of declared objects does not take, at its place and by itself as the cause. */
  contentAt(reason: string, path: JsonPath) {
    const at = this.at(path);
    const { cause } = contentError(reason, at);
    return parsingError(cause.reason ?? reason, at, cause);
  }

  /** As the vendor's reader of declared objects says it: `[bool] unknown field [foo]`. */
  unknownField(clause: string, option: string, known: readonly string[], path: JsonPath) {
    return contentError(
      `[${clause}] unknown field [${option}]${didYouMean(option, known)}`,
      this.at(path, "name"),
    );
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

/** `.bool.must[0]` */
export function pathText(path: JsonPath): string {
  return path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
}
