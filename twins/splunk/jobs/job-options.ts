/** Options of a search beside its text and its range, by the vendor's argument names. */

/** `fast` finds only the fields that the search names; only `verbose` keeps the events of a report. */
export type SearchLevel = "fast" | "smart" | "verbose";

export const searchLevels: readonly SearchLevel[] = ["fast", "smart", "verbose"];

export interface JobOptions {
  /** Absent: all fields and the events of a report are kept. */
  readonly level: SearchLevel | undefined;
  /** Seconds without a question about the job until it is cancelled or paused; 0: never. */
  readonly autoCancelS: number;
  readonly autoPauseS: number;
  /** Number of events after which the search ends with what it has; 0: never. */
  readonly finalizeAfter: number;
  /** Fields that are shown even when the search does not name them; names with `*` are patterns. */
  readonly requiredFields: readonly string[];
  /** Servers to search, as patterns with `*`; none: all. */
  readonly servers: readonly string[];
  /** Whether the running search shows previews; absent: not given. */
  readonly preview: boolean | undefined;
}

type Given = Readonly<Record<string, string | readonly string[]>>;

/** @param given checked arguments */
export function jobOptionsOf(given: Given): JobOptions {
  const all = (name: string): readonly string[] => {
    const value = given[name] ?? [];
    return typeof value === "string" ? [value] : value;
  };
  const text = (name: string) => all(name).at(-1) ?? "";
  const number = (name: string) => {
    const value = Number(text(name));
    return Number.isFinite(value) && value > 0 ? value : 0;
  };
  const list = (value: string) => value.split(/[\s,]+/).filter((one) => one !== "");
  // The client of a blocking request is present until the search ends.
  const isBlocking = ["blocking", "oneshot"].includes(text("exec_mode"));
  return {
    level: searchLevels.find((level) => level === text("adhoc_search_level")),
    autoCancelS: isBlocking ? 0 : number("auto_cancel"),
    autoPauseS: isBlocking ? 0 : number("auto_pause"),
    finalizeAfter: Math.floor(number("auto_finalize_ec")),
    requiredFields: [...all("rf").flatMap(list), ...list(text("required_field_list"))],
    servers: list(text("remote_server_list")),
    preview: text("preview") === "" ? undefined : /^(1|true|t|yes|y)$/i.test(text("preview")),
  };
}
