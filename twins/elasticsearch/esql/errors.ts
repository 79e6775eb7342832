/**
 * Errors of ES|QL. Lines and columns count from 1.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-rest.html
 */
import { VendorError } from "../vendor/error.ts";

/** A piece of the query's text. */
export interface Span {
  line: number;
  column: number;
  /** Offsets of the first character, and of the one after the last. */
  start: number;
  end: number;
}

function lineAndColumn({ line, column }: Span): string {
  return `line ${line}:${column}`;
}

/** A query that does not match the grammar. */
export function syntaxError(at: Span, message: string): VendorError {
  return new VendorError(400, { type: "parsing_exception", reason: `${lineAndColumn(at)}: ${message}` });
}

/** A query whose parts conflict. The vendor counts the columns of these errors from 2. */
export function parsingError(at: Span, message: string): VendorError {
  return syntaxError({ ...at, column: at.column + 1 }, message);
}

/** A constant computation with a result out of range. */
export function arithmeticError(text: string, message: string): VendorError {
  return new VendorError(400, {
    type: "verification_exception",
    reason: `arithmetic exception in expression [${text}]: [${message}]`,
  });
}

/** An invalid regular expression. */
export function patternSyntax(message: string): VendorError {
  return new VendorError(400, { type: "pattern_syntax_exception", reason: message });
}

/** An argument in the wrong form. */
export function invalidArgument(message: string): VendorError {
  return new VendorError(400, { type: "invalid_argument_exception", reason: message });
}

/** A valid query that the compiler does not serve. A translator may take over; without one this is the answer. */
export class UnrecognisedEsql extends VendorError {
  /** The part that is not served. */
  readonly what: string;
  readonly at: Span;

  constructor(at: Span, what: string) {
    super(400, {
      type: "verification_exception",
      reason: `Found 1 problem\n${lineAndColumn(at)}: ${what} is not supported here`,
    });
    this.name = "UnrecognisedEsql";
    this.what = what;
    this.at = at;
  }
}

/** Collects the problems of a query, to report all at once. A problem that repeats is reported at its first place. */
export class Problems {
  readonly #unresolved = new Map<string, Span>();
  readonly #mismatched = new Map<string, Span>();
  #refusal: VendorError | undefined;

  /** An unknown name. It hides all other problems, which may be consequences. */
  unresolved(at: Span, message: string): void {
    if (!this.#unresolved.has(message)) this.#unresolved.set(message, at);
  }

  mismatch(at: Span, message: string): void {
    if (!this.#mismatched.has(message)) this.#mismatched.set(message, at);
  }

  /**
   * An error of a constant computation. It is reported only when there is no other problem, because the vendor computes
   * constants after verification.
   */
  refuse(error: VendorError): void {
    this.#refusal ??= error;
  }

  /** @param instead compiles a stand-in for the refused part, so that the rest can be verified */
  defer<Compiled>(compile: () => Compiled, instead: () => Compiled): Compiled {
    try {
      return compile();
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      this.refuse(error);
      return instead();
    }
  }

  get anyUnresolved(): boolean {
    return this.#unresolved.size > 0;
  }

  /** @throws VendorError */
  check(): void {
    const found = this.#unresolved.size > 0 ? this.#unresolved : this.#mismatched;
    if (found.size > 0)
      throw verificationError([...found].map(([message, at]) => `${lineAndColumn(at)}: ${message}`));
    if (this.#refusal) throw this.#refusal;
  }
}

export function verificationError(lines: readonly string[]): VendorError {
  const title = `Found ${lines.length} problem${lines.length === 1 ? "" : "s"}`;
  return new VendorError(400, { type: "verification_exception", reason: [title, ...lines].join("\n") });
}
