/** The arguments of a request: those of the address and those of a form body, together. */
import type { RefusedRequest } from "@offhook/platform/http/operation";
import { fatal, type RestError, refused } from "./rest-error.ts";

/** Those of searches and their results: splunkd's search service says that they are invalid, and no more. */
const ofSearches: ReadonlySet<string> = new Set([
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

/** Of a value that an argument cannot have. */
export function invalidArgument(name: string, value: string): RestError {
  if (!ofSearches.has(name)) return refused(400, `Invalid value "${value}" for argument "${name}".`);
  return fatal(400, `Invalid ${name === "status_buckets" ? "status buckets" : name}.`);
}

/** More than any client sends. */
const MAX_ARGUMENTS = 10_000;

export class Arguments {
  readonly #values = new Map<string, string[]>();

  constructor(pairs: Iterable<readonly [string, string]>) {
    let count = 0;
    for (const [name, value] of pairs) {
      if (++count > MAX_ARGUMENTS) throw refused(400, "Too many arguments.");
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

  /** The last one given. */
  get(name: string): string | undefined {
    return this.#values.get(name)?.at(-1);
  }

  /** The last one given, unless it is empty. */
  text(name: string): string | undefined {
    const value = this.get(name);
    return value === "" ? undefined : value;
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** @throws RestError 400 when it is no whole number of at least `least` */
  integer(name: string, usual: number, least = 0): number {
    const value = this.text(name);
    if (value === undefined) return usual;
    const number = Number(value);
    if (/^-?\d+$/.test(value) && Number.isSafeInteger(number) && number >= least) return number;
    throw invalidArgument(name, value);
  }

  /** `1`, `true`, `t`, `yes` and their opposites. @throws RestError 400 */
  flag(name: string, usual: boolean): boolean {
    const value = this.text(name);
    if (value === undefined) return usual;
    if (/^(1|true|t|yes|y)$/i.test(value)) return true;
    if (/^(0|false|f|no|n)$/i.test(value)) return false;
    throw invalidArgument(name, value);
  }

  /** As `flag`; `undefined` when it is not given. @throws RestError 400 */
  givenFlag(name: string): boolean | undefined {
    return this.has(name) ? this.flag(name, false) : undefined;
  }

  /** What is given one by one, or apart by commas; `undefined` when nothing is. */
  list(name: string): string[] | undefined {
    if (!this.has(name)) return undefined;
    return this.all(name).flatMap((text) => text.split(",").flatMap((one) => one.trim() || []));
  }

  /** As a job keeps them: repeated ones are lists. */
  plain(): Record<string, string | string[]> {
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

/** Clients that name no type send a form all the same. */
function isForm(contentType: string | undefined): boolean {
  return (
    contentType === undefined || /^\s*(application\/x-www-form-urlencoded|text\/plain)\b/i.test(contentType)
  );
}

/** The form of a refusal: JSON for who asks for any kind of it, in the address or in the body, and XML otherwise. */
export function refusalMode(request: RefusedRequest | undefined): "json" | "xml" {
  try {
    const mode = request && readArguments(request).get("output_mode");
    return /^json(_rows|_cols)?$/.test(mode ?? "") ? "json" : "xml";
  } catch {
    return "xml";
  }
}
