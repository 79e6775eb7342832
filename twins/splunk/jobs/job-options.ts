/** What a search was asked to do beside its text and its range, by the vendor's names of arguments. */

/** How much is found out about events that nobody asked for: fields in `fast` none, the events of a report in `verbose` alone. */
export type SearchLevel = "fast" | "smart" | "verbose";

export const searchLevels: readonly SearchLevel[] = ["fast", "smart", "verbose"];

export interface JobOptions {
  /** Absent: all fields, and the events of a report. */
  readonly level: SearchLevel | undefined;
  /** Seconds without a question about the job after which it is cancelled, or pauses; 0: never. */
  readonly autoCancelS: number;
  readonly autoPauseS: number;
  /** Events after which the search ends with what it has; 0: never. */
  readonly finalizeAfter: number;
  /** Fields that are shown whether or not the search names them; names with `*` are patterns. */
  readonly requiredFields: readonly string[];
  /** Servers whose events are asked for, with `*`; none: all. */
  readonly servers: readonly string[];
  /** Whether it shows what it has found while it goes on; absent: nobody has said. */
  readonly preview: boolean | undefined;
}

type Given = Readonly<Record<string, string | readonly string[]>>;

/** @param given the arguments, which whoever took them has checked */
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
  // Who waits for the end of a search in one request is there all the time.
  const isWatched = ["blocking", "oneshot"].includes(text("exec_mode"));
  return {
    level: searchLevels.find((level) => level === text("adhoc_search_level")),
    autoCancelS: isWatched ? 0 : number("auto_cancel"),
    autoPauseS: isWatched ? 0 : number("auto_pause"),
    finalizeAfter: Math.floor(number("auto_finalize_ec")),
    requiredFields: [...all("rf").flatMap(list), ...list(text("required_field_list"))],
    servers: list(text("remote_server_list")),
    preview: text("preview") === "" ? undefined : /^(1|true|t|yes|y)$/i.test(text("preview")),
  };
}
