/** Which events a user may see, by the roles. */
export interface EventAccess {
  /** Patterns of the indexes a search may name. */
  readonly allowed: readonly string[];
  /** Patterns of indexes that are excluded from `allowed`. */
  readonly disallowed: readonly string[];
  /** Patterns of the indexes of a search that names none. */
  readonly defaults: readonly string[];
  /** A search expression that every visible event meets; empty: no condition. */
  readonly filter: string;
  /** Longest time range, in seconds; `undefined`: any. */
  readonly windowS: number | undefined;
  /** Farthest start of a time range before now, in seconds; `undefined`: any. */
  readonly earliestS: number | undefined;
}
