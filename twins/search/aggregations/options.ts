/** The options of one aggregation, read one by one; what is left over is unknown. */
import { tokenOf } from "../json/token.ts";
import { optionError, parsingError } from "./errors.ts";
import { didYouMean } from "./suggest.ts";

export type JsonRecord = { readonly [member: string]: unknown };

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The most values of a list of percents, ranges, filters, paths. */
export const MAX_ITEMS = 1_000;

export class Options {
  /** Type of the aggregation, or of the part of it, as errors name it. */
  readonly type: string;
  readonly #json: JsonRecord;
  readonly #known = new Set<string>();

  constructor(type: string, json: JsonRecord) {
    this.type = type;
    this.#json = json;
  }

  has(name: string): boolean {
    this.#known.add(name);
    return this.#json[name] !== undefined && this.#json[name] !== null;
  }

  /** As it stands; `undefined` when absent or null. */
  any(name: string): unknown {
    return this.has(name) ? this.#json[name] : undefined;
  }

  text(name: string): string | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
      return String(value);
    throw this.#wrongKind(name, value);
  }

  /** A number, also one that is written as text. */
  number(name: string): number | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "number") return value;
    if (typeof value === "bigint") return Number(value);
    if (typeof value !== "string") throw this.#wrongKind(name, value);
    const number = Number(value);
    if (value.trim() !== "" && Number.isFinite(number)) return number;
    throw this.failed(name, "number_format_exception", `For input string: "${value}"`);
  }

  /** A number without a fraction; one is cut off, as the vendor does. */
  integer(name: string): number | undefined {
    const value = this.number(name);
    return value === undefined ? undefined : Math.trunc(value);
  }

  boolean(name: string): boolean | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "boolean") return value;
    if (value === "true" || value === "false") return value === "true";
    if (typeof value !== "string") throw this.#wrongKind(name, value);
    throw this.failed(
      name,
      "illegal_argument_exception",
      `Failed to parse value [${value}] as only [true] or [false] are allowed.`,
    );
  }

  record(name: string): JsonRecord | undefined {
    const value = this.any(name);
    if (value === undefined || isRecord(value)) return value;
    throw this.#wrongKind(name, value);
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.any(name);
    if (value === undefined) return undefined;
    const items = Array.isArray(value) ? value : [value];
    if (items.length <= MAX_ITEMS) return items;
    throw this.failed(
      name,
      "illegal_argument_exception",
      `[${name}] has ${items.length} values, more than the ${MAX_ITEMS} that are answered`,
    );
  }

  numbers(name: string): number[] | undefined {
    return this.list(name)?.map((value) => {
      const number = typeof value === "bigint" || typeof value === "string" ? Number(value) : value;
      if (typeof number !== "number" || Number.isNaN(number)) throw this.#wrongKind(name, value);
      return number;
    });
  }

  required<Value>(name: string, value: Value | undefined): Value {
    if (value !== undefined) return value;
    throw optionError(`Required one of fields [${name}], but none were specified. `);
  }

  /** @throws VendorError when there is an option that nobody asked for */
  done(): void {
    for (const name of Object.keys(this.#json)) {
      if (this.#known.has(name)) continue;
      throw optionError(`[${this.type}] unknown field [${name}]${didYouMean(name, this.#known)}`);
    }
  }

  failed(name: string, type: string, reason: string): Error {
    return optionError(`[${this.type}] failed to parse field [${name}]`, { type, reason });
  }

  #wrongKind(name: string, value: unknown): Error {
    return optionError(`[${this.type}] ${name} doesn't support values of type: ${tokenOf(value)}`);
  }
}

export function recordOf(value: unknown, what: string): JsonRecord {
  if (isRecord(value)) return value;
  throw parsingError(`Expected [START_OBJECT] under [${what}], but got a [${tokenOf(value)}] in [${what}]`);
}
