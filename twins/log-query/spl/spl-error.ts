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

/** DuckDB's message: what is used, of how much, or that the disk's share is used up. */
const outOfMemory = /^Out of Memory Error|max_temp_directory_size/;

/** What is said of a statement that needed more memory than the store may have; `undefined` for any other error. */
export function beyondMemory(error: unknown): SplError | undefined {
  if (!(error instanceof Error) || !outOfMemory.test(error.message)) return undefined;
  const [, limit] = /\/([\d.]+ [KMGT]iB) used/.exec(error.message) ?? [];
  return new SplError(
    `The search needs more memory than it may use${limit === undefined ? "" : ` (${limit})`}. Search a shorter time, name the fields that are needed with 'fields' before the commands that look at all rows, or ask for fewer results with 'head'.`,
    "run",
  );
}
