/** Knowledge objects that searches refer to by name. They are rows of the twin's world. */
import type { Rows } from "../relation/rows.ts";
import type { FindMacro } from "../syntax/macros.ts";

interface SavedSearch {
  name: string;
  search: string;
  earliest: string | undefined;
  latest: string | undefined;
}

/** A dataset of a data model: a selection of events and names for their fields. */
export interface DataModelObject {
  model: string;
  object: string;
  /** A search that selects the events; empty: all events. */
  constraint: string;
  /** From the object's field to the events' field: `src` to `source_ip`. Other fields keep their names. */
  fields: Readonly<Record<string, string>>;
}

/** How values are looked up in a table: a stanza of `transforms.conf`, with its defaults. */
export interface LookupDefinition {
  /** By field of the table. Default: `EXACT`. */
  matchType?: Readonly<Record<string, "EXACT" | "WILDCARD" | "CIDR">>;
  /** Default: true. */
  caseSensitive?: boolean;
  /** Fewer matches are padded with `defaultMatch`. Default: 0. */
  minMatches?: number;
  /** 1 to 1,000; the first matching rows of the table count. Default: 1,000, or 1 for a table with times. */
  maxMatches?: number;
  /** Default: the empty text. */
  defaultMatch?: string;
  /** The field of the table with the time from which a row is valid. */
  timeField?: string;
  /** Format of that field, for `strptime`. Default: seconds since the epoch. */
  timeFormat?: string;
  /** How much later than the row's time an event may be. Default: 2,000,000,000. */
  maxOffsetSeconds?: number;
  /** How much later it must be. Default: 0. */
  minOffsetSeconds?: number;
}

/** What to load of a job. */
export interface JobArtifact {
  /** Which job of a saved search: 0 for the last, 1 for the one before. */
  offset: number;
  part: "results" | "events";
}

/** A lookup table and how values are looked up in it. The same object as long as neither has changed, so it can be a cache key. */
export interface LookupTable extends Rows {
  definition?: LookupDefinition;
}

export interface Knowledge {
  macro: FindMacro;
  savedSearch(name: string): SavedSearch | undefined;
  /** Finds a lookup table by its name, with or without `.csv`, or by the name of its definition. */
  lookup(name: string): Promise<LookupTable | undefined>;
  /** Writes a lookup table and creates it if needed. */
  writeLookup(name: string, rows: Rows, mode: "replace" | "append"): Promise<void>;
  /** Removes a lookup table, if there is one. */
  removeLookup(name: string): Promise<void>;
  /** `field=value` pairs that have the tag; values can have wildcards. @param tag can have wildcards too */
  tagged(tag: string): readonly { field: string; value: string }[];
  tagsOf(field: string, value: string): readonly string[];
  /** The search of an event type. */
  eventType(name: string): string | undefined;
  /** Names of all enabled event types. */
  eventTypes(): readonly string[];
  /** Objects of a data model; the first is its root. Empty for an unknown model. */
  dataModel(name: string): readonly DataModelObject[];
  /**
   * The results of a job.
   * @param job a sid, or a saved search (`owner:app:name`), whose last job is meant by default
   * @param user only jobs that this user may read are found
   */
  jobResults(job: string, which?: JobArtifact, user?: string): Promise<Rows | undefined>;
  /** All entries of one of the twin's REST collections, for `rest`. */
  rest(path: string, args: Readonly<Record<string, string>>, user: string): Promise<Rows | undefined>;
  /** Stores events, for `collect`. */
  collect(
    events: readonly { raw: string; timeMs: number; fields: Readonly<Record<string, string>> }[],
  ): Promise<void>;
  /** Names of all indexes. */
  indexes(): Promise<readonly string[]>;
  /** Indexes of a search that names none. */
  defaultIndexes(): readonly string[];
}
