/**
 * What ES|QL refuses, in the vendor's words. Places are counted as it counts them: lines and columns from 1.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-rest.html
 */
import { VendorError } from "../vendor-error.ts";

/** A piece of the query's text. */
export interface Span {
  line: number;
  column: number;
  /** Offset of its first character, and of the one behind its last. */
  start: number;
  end: number;
}

function where({ line, column }: Span): string {
  return `line ${line}:${column}`;
}

/** The query is not of the grammar. */
export function parsingError(at: Span, message: string): VendorError {
  return new VendorError(400, { type: "parsing_exception", reason: `${where(at)}: ${message}` });
}

/** A computation of constants whose result is out of range. */
export function arithmeticError(text: string, message: string): VendorError {
  return new VendorError(400, {
    type: "verification_exception",
    reason: `arithmetic exception in expression [${text}]: [${message}]`,
  });
}

/** An argument that no row is needed to refuse. */
export function illegalArgument(message: string): VendorError {
  return new VendorError(400, { type: "illegal_argument_exception", reason: message });
}

/** An argument that is not of the form its function wants. */
export function invalidArgument(message: string): VendorError {
  return new VendorError(400, { type: "invalid_argument_exception", reason: message });
}

/**
 * Of the grammar, and not served by the compiler. A translator may take over; without one this is the answer.
 */
export class UnrecognisedEsql extends VendorError {
  /** What was not understood. */
  readonly what: string;
  readonly at: Span;

  constructor(at: Span, what: string) {
    super(400, {
      type: "verification_exception",
      reason: `Found 1 problem\n${where(at)}: ${what} is not supported here`,
    });
    this.name = "UnrecognisedEsql";
    this.what = what;
    this.at = at;
  }
}

/** Problems of a query that is of the grammar: all that were found are told at once. */
export class Problems {
  readonly #unresolved = new Set<string>();
  readonly #mismatched = new Set<string>();

  /** A name that nothing has. Hides all other problems, which may follow from it. */
  unresolved(at: Span, message: string): void {
    this.#unresolved.add(`${where(at)}: ${message}`);
  }

  mismatch(at: Span, message: string): void {
    this.#mismatched.add(`${where(at)}: ${message}`);
  }

  get anyUnresolved(): boolean {
    return this.#unresolved.size > 0;
  }

  /** @throws VendorError */
  check(): void {
    const found = this.#unresolved.size > 0 ? this.#unresolved : this.#mismatched;
    if (found.size > 0) throw verificationError([...found]);
  }
}

export function verificationError(lines: readonly string[]): VendorError {
  const title = `Found ${lines.length} problem${lines.length === 1 ? "" : "s"}`;
  return new VendorError(400, { type: "verification_exception", reason: [title, ...lines].join("\n") });
}
