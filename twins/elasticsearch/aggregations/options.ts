/** The options of one aggregation, already checked: each has its declared type or is absent. */
export type JsonRecord = { readonly [member: string]: unknown };

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Limit of values in a list of percents, ranges, filters or paths. */
export const MAX_ITEMS = 1_000;

export class Options {
  /** Type of the aggregation or its part, for errors. */
  readonly type: string;
  readonly #values: JsonRecord;

  constructor(type: string, values: JsonRecord) {
    this.type = type;
    this.#values = values;
  }

  has(name: string): boolean {
    return this.any(name) !== undefined;
  }

  any(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }

  text(name: string): string | undefined {
    const value = this.any(name);
    return typeof value === "string" ? value : undefined;
  }

  number(name: string): number | undefined {
    const value = this.any(name);
    return typeof value === "number" ? value : undefined;
  }

  /** A number without its fraction, truncated like the vendor. */
  integer(name: string): number | undefined {
    const value = this.number(name);
    return value === undefined ? undefined : Math.trunc(value);
  }

  boolean(name: string): boolean | undefined {
    const value = this.any(name);
    return typeof value === "boolean" ? value : undefined;
  }

  record(name: string): JsonRecord | undefined {
    const value = this.any(name);
    return isRecord(value) ? value : undefined;
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.any(name);
    return Array.isArray(value) ? value : undefined;
  }

  numbers(name: string): readonly number[] | undefined {
    return this.list(name)?.filter((item) => typeof item === "number");
  }
}
