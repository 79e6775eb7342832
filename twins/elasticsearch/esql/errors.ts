/**
 * What ES|QL refuses, in the vendor's words. Places are counted as it counts them: lines and columns from 1.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-rest.html
 */
import { VendorError } from "../vendor/error.ts";

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
export function syntaxError(at: Span, message: string): VendorError {
  return new VendorError(400, { type: "parsing_exception", reason: `${where(at)}: ${message}` });
}

/** The query is of the grammar, and its parts do not go together. The vendor counts these columns from 2. */
export function parsingError(at: Span, message: string): VendorError {
  return syntaxError({ ...at, column: at.column + 1 }, message);
}

/** A computation of constants whose result is out of range. */
export function arithmeticError(text: string, message: string): VendorError {
  return new VendorError(400, {
    type: "verification_exception",
    reason: `arithmetic exception in expression [${text}]: [${message}]`,
  });
}

/** A text that is no regular expression. */
export function patternSyntax(message: string): VendorError {
  return new VendorError(400, { type: "pattern_syntax_exception", reason: message });
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

/** Problems of a query that is of the grammar: all that were found are told at once, one that is found again at its first place. */
export class Problems {
  readonly #unresolved = new Map<string, Span>();
  readonly #mismatched = new Map<string, Span>();
  #refusal: VendorError | undefined;

  /** A name that nothing has. Hides all other problems, which may follow from it. */
  unresolved(at: Span, message: string): void {
    if (!this.#unresolved.has(message)) this.#unresolved.set(message, at);
  }

  mismatch(at: Span, message: string): void {
    if (!this.#mismatched.has(message)) this.#mismatched.set(message, at);
  }

  /** What a computation of constants refuses: told when the query has no problem, as the vendor computes them after it has verified. */
  refuse(error: VendorError): void {
    this.#refusal ??= error;
  }

  /** @param instead what stands for what was refused, so that the rest can be verified */
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
      throw verificationError([...found].map(([message, at]) => `${where(at)}: ${message}`));
    if (this.#refusal) throw this.#refusal;
  }
}

export function verificationError(lines: readonly string[]): VendorError {
  const title = `Found ${lines.length} problem${lines.length === 1 ? "" : "s"}`;
  return new VendorError(400, { type: "verification_exception", reason: [title, ...lines].join("\n") });
}
