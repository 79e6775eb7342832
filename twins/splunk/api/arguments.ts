/** The arguments of a request: of the address and of a form body together. */
import type { RefusedRequest } from "@offhook/platform/http/operation";
import { dispatcherError, handlerError, type RestError } from "./rest-error.ts";

/** Arguments of the search service, whose message does not quote an invalid value. */
const searchArguments: ReadonlySet<string> = new Set([
  ...[
    "add_summary_to_metadata",
    "adhoc_search_level",
    "allow_partial_results",
    "auto_cancel",
    "auto_finalize_ec",
    "auto_pause",
  ],
  ...["count", "enable_lookups", "force_bundle_replication", "indexedRealtime", "indexedRealtimeOffset"],
  ...["max_count", "max_lines", "max_time", "min_freq", "offset", "preview", "reduce_freq", "reload_macros"],
  ...["reuse_max_seconds_ago", "rt_blocking", "rt_indexfilter", "rt_maxblocksecs", "rt_queue_size"],
  ...["segmentation", "spawn_process", "status_buckets", "sync_bundle_replication", "timeout"],
  ...["top_count", "truncation_mode"],
]);

/** The error for an invalid value of an argument. */
export function invalidArgument(name: string, value: string): RestError {
  if (!searchArguments.has(name))
    return handlerError(400, `Invalid value "${value}" for argument "${name}".`);
  return dispatcherError(400, `Invalid ${name === "status_buckets" ? "status buckets" : name}.`);
}

/** Far more than a client sends. */
const MAX_ARGUMENTS = 10_000;

export class Arguments {
  readonly #values = new Map<string, string[]>();

  constructor(pairs: Iterable<readonly [string, string]>) {
    let count = 0;
    for (const [name, value] of pairs) {
      if (++count > MAX_ARGUMENTS) throw handlerError(400, "Too many arguments.");
      const values = this.#values.get(name);
      if (values) values.push(value);
      else this.#values.set(name, [value]);
    }
  }

  names(): string[] {
    return [...this.#values.keys()];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The last value of a repeated argument. */
  get(name: string): string | undefined {
    return this.#values.get(name)?.at(-1);
  }

  /** The last value, unless it is empty. */
  text(name: string): string | undefined {
    const value = this.get(name);
    return value === "" ? undefined : value;
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** Reads a whole number. @throws RestError 400 for any other text, or below `min` */
  integer(name: string, fallback: number, min = 0): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (/^-?\d+$/.test(value) && Number.isSafeInteger(number) && number >= min) return number;
    throw invalidArgument(name, value);
  }

  /** Reads `1`, `true`, `t`, `yes`, `y` and their opposites. @throws RestError 400 */
  flag(name: string, fallback: boolean): boolean {
    const value = this.text(name);
    if (value === undefined) return fallback;
    if (/^(1|true|t|yes|y)$/i.test(value)) return true;
    if (/^(0|false|f|no|n)$/i.test(value)) return false;
    throw invalidArgument(name, value);
  }

  /** Like `flag`; `undefined` when absent. @throws RestError 400 */
  optionalFlag(name: string): boolean | undefined {
    return this.has(name) ? this.flag(name, false) : undefined;
  }

  /** Reads repeated or comma-separated values; `undefined` when absent. */
  list(name: string): string[] | undefined {
    if (!this.has(name)) return undefined;
    return this.all(name).flatMap((text) => text.split(",").flatMap((one) => one.trim() || []));
  }

  /** All arguments by name; repeated ones are lists. */
  toObject(): Record<string, string | string[]> {
    return Object.fromEntries(
      [...this.#values].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? "") : values]),
    );
  }
}

/** @throws RestError 400 */
export function readArguments({ query, body, headers }: RefusedRequest): Arguments {
  const form = isForm(headers["content-type"]) ? new URLSearchParams(body.toString("utf8")) : [];
  return new Arguments([...query, ...form]);
}

/** Whether the body is a form, as it is without a content type, too. */
function isForm(contentType: string | undefined): boolean {
  return (
    contentType === undefined || /^\s*(application\/x-www-form-urlencoded|text\/plain)\b/i.test(contentType)
  );
}

/** The output mode of a refusal: JSON when the request asks for any kind of JSON, else XML. */
export function refusalMode(request: RefusedRequest | undefined): "json" | "xml" {
  try {
    const mode = request && readArguments(request).get("output_mode");
    return /^json(_rows|_cols)?$/.test(mode ?? "") ? "json" : "xml";
  } catch {
    return "xml";
  }
}
