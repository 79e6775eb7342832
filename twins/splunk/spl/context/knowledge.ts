/** Knowledge objects: what searches refer to by name. They are rows of the twin's world. */
import type { Rows } from "../relation/rows.ts";

export interface Macro {
  /** `name` or `name(2)`. */
  name: string;
  args: readonly string[];
  /** With `$arg$` where arguments go. */
  definition: string;
  /** Whether `definition` is an eval expression whose text is the macro. */
  isEval: boolean;
  /** An eval expression over the arguments; absent or empty: any are taken. */
  validation?: string;
  /** What is said of arguments for which that is not true. */
  errorMessage?: string;
}

export interface SavedSearch {
  name: string;
  search: string;
  earliest: string | undefined;
  latest: string | undefined;
}

/** A data set of a data model: which events are in it, and what its fields are called. */
export interface DataModelObject {
  model: string;
  object: string;
  /** A search that selects its events; empty: all of them. */
  constraint: string;
  /** Field of the object to the field of the events: `src` to `source_ip`. Those not named are the same. */
  fields: Readonly<Record<string, string>>;
}

/** How values are looked up in a table, as a stanza of `transforms.conf` says it. What is absent is as there by default. */
export interface LookupDefinition {
  /** By field of the table; those not named match exactly. */
  matchType?: Readonly<Record<string, "EXACT" | "WILDCARD" | "CIDR">>;
  /** Default: true. */
  caseSensitive?: boolean;
  /** Fewer matches are filled up with `defaultMatch`. Default: 0. */
  minMatches?: number;
  /** 1 to 1,000, the first rows of the table. Default: 1,000, or 1 for a table with times. */
  maxMatches?: number;
  /** Default: the empty text. */
  defaultMatch?: string;
  /** The field of the table that says from when on a row holds. */
  timeField?: string;
  /** How that field is written, as `strptime` reads it. Default: seconds since the epoch. */
  timeFormat?: string;
  /** How much later than the row's time an event may be, and how much it must be. Defaults: 2,000,000,000 and 0. */
  maxOffsetSeconds?: number;
  minOffsetSeconds?: number;
}

/** Which job's, and what of it. */
export interface JobArtifact {
  /** Of a saved search's jobs: 0 for the last, 1 for the one before. */
  offset: number;
  part: "results" | "events";
}

/** The rows of a lookup table, and how it is looked up: the same object as long as neither has changed. */
export interface LookupTable extends Rows {
  definition?: LookupDefinition;
}

export interface Knowledge {
  macro(name: string, args: number): Macro | undefined;
  savedSearch(name: string): SavedSearch | undefined;
  /** A lookup table, by its name with or without `.csv`, or by the name of its definition. */
  lookup(name: string): Promise<LookupTable | undefined>;
  /** Writes a lookup table; made when there is none. */
  writeLookup(name: string, rows: Rows, mode: "replace" | "append"): Promise<void>;
  /** Removes a lookup table, if there is one. */
  removeLookup(name: string): Promise<void>;
  /** `field=value` pairs that have the tag; values can have wildcards. @param tag can have wildcards too */
  tagged(tag: string): readonly { field: string; value: string }[];
  tagsOf(field: string, value: string): readonly string[];
  /** The search of an event type. */
  eventType(name: string): string | undefined;
  /** Names of all event types that count. */
  eventTypes(): readonly string[];
  /** Every data model object of a model; the first is its root. */
  dataModel(name: string): readonly DataModelObject[];
  /**
   * What a job has found, by its sid, or that of a job of a saved search (`owner:app:name`): the last one by default.
   * @param user whose search asks: there are no jobs but those that they may read
   */
  jobResults(job: string, which?: JobArtifact, user?: string): Promise<Rows | undefined>;
  /** Entries of one of the twin's own REST collections, for `rest`, all of them. */
  rest(path: string, args: Readonly<Record<string, string>>, user: string): Promise<Rows | undefined>;
  /** Stores events (`collect`, `outputlookup` aside). */
  collect(
    events: readonly { raw: string; timeMs: number; fields: Readonly<Record<string, string>> }[],
  ): Promise<void>;
  /** Names of the indexes there are. */
  indexes(): Promise<readonly string[]>;
  /** The indexes of a search that names none. */
  defaultIndexes(): readonly string[];
}
