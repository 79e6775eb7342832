/** URL parameters, read in the vendor's words; parameters that the route does not take are refused. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { didYouMean } from "./did-you-mean.ts";
import { illegalArgument } from "./error.ts";

/** Parameters of every route. */
const COMMON = ["pretty", "human", "error_trace", "filter_path", "format", "source", "source_content_type"];

export class Parameters {
  readonly #query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  has(name: string): boolean {
    return this.#query.has(name);
  }

  text(name: string): string | undefined {
    // The last value of a repeated parameter counts.
    return this.#query.getAll(name).at(-1);
  }

  /** A comma-separated list; `undefined` when it is absent. */
  list(name: string): string[] | undefined {
    return this.text(name)
      ?.split(",")
      .filter((item) => item !== "");
  }

  /** `?pretty` alone is true. */
  flag(name: string): boolean | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (text === "" || text === "true") return true;
    if (text === "false") return false;
    throw illegalArgument(`Failed to parse value [${text}] as only [true] or [false] are allowed.`);
  }

  integer(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined || text === "") return undefined;
    if (/^[+-]?\d+$/.test(text) && Math.abs(Number(text)) < 2 ** 31) return Number(text);
    throw illegalArgument(`Failed to parse int parameter [${name}] with value [${text}]`, numberFormat(text));
  }

  long(name: string): bigint | undefined {
    const text = this.text(name);
    if (text === undefined || text === "") return undefined;
    if (/^[+-]?\d{1,19}$/.test(text)) return BigInt(text);
    throw illegalArgument(
      `Failed to parse long parameter [${name}] with value [${text}]`,
      numberFormat(text),
    );
  }

  /** Milliseconds of a time such as `30s`. */
  durationMs(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : readDurationMs(text, name);
  }

  /** @throws VendorError for a parameter that is neither common nor in `names` */
  check(path: string, names: readonly string[]): void {
    const allowed = new Set([...COMMON, ...names]);
    const unknown = [...new Set(this.#query.keys())].filter((name) => !allowed.has(name)).sort();
    if (unknown.length === 0) return;
    const described = unknown.map((name) => `[${name}]${suggestion(name, allowed)}`).join(", ");
    throw illegalArgument(
      `request [${path}] contains unrecognized parameter${unknown.length > 1 ? "s" : ""}: ${described}`,
    );
  }
}

const units = lookupTable<number>({
  nanos: 1e-6,
  micros: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
});

/** Milliseconds; -1 for "no limit". @throws VendorError */
export function readDurationMs(text: string, name: string): number {
  if (text === "-1") return -1;
  if (text === "0") return 0;
  const [, count, unit = ""] = /^(-?\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text.trim()) ?? [];
  const factor = units[unit.toLowerCase()];
  if (count === undefined || factor === undefined) {
    throw illegalArgument(
      `failed to parse setting [${name}] with value [${text}] as a time value: unit is missing or unrecognized`,
    );
  }
  if (count.includes(".")) {
    throw illegalArgument(`failed to parse [${text}], fractional time values are not supported`);
  }
  return Number(count) * factor;
}

function numberFormat(text: string) {
  return { type: "number_format_exception", reason: `For input string: "${text}"` };
}

/** ` -> did you mean [x]?` when a known name is close, else an empty text. */
function suggestion(name: string, known: Iterable<string>): string {
  const near = didYouMean(name, known);
  return near === "" ? "" : ` ->${near}`;
}
