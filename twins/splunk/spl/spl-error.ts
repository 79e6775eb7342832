/** What is wrong with a search, in splunkd's words. */

/** A message of a search, as its results and its job show it. */
export interface SearchMessage {
  type: "FATAL" | "ERROR" | "WARN" | "INFO" | "DEBUG";
  text: string;
}

/** A search that cannot be run. */
export class SplError extends Error {
  /**
   * When it is found: `dispatch` while the search is parsed, so that no job is made (400); `run` when the job is at work, so
   * that the job fails.
   */
  readonly phase: "dispatch" | "run";
  /** Where in the search, in UTF-16 units, when that is known. */
  readonly at: number | undefined;
  constructor(message: string, phase: "dispatch" | "run" = "dispatch", at?: number) {
    super(message);
    this.name = "SplError";
    this.phase = phase;
    this.at = at;
  }
}

/** `Error in 'dedup' command: …` */
export function commandError(
  command: string,
  message: string,
  phase: "dispatch" | "run" = "dispatch",
): SplError {
  return new SplError(`Error in '${command}' command: ${message}`, phase);
}
