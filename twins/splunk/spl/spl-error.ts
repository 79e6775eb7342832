/** Errors and messages of searches, in splunkd's words. */

/** A message that the results and the job of a search show. */
export interface SearchMessage {
  type: "FATAL" | "ERROR" | "WARN" | "INFO" | "DEBUG";
  text: string;
}

/** A search that cannot be run. */
export class SplError extends Error {
  /**
   * `dispatch`: found while the search is parsed, so no job is created (400). `run`: found while the job runs, so the job
   * fails.
   */
  readonly phase: "dispatch" | "run";
  /** Position in the search, in UTF-16 units, if known. */
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
