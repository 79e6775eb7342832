/** Knowledge objects: what searches refer to by name. They are rows of the twin's world. */
import type { Rows } from "./rows.ts";

export interface Macro {
  /** `name` or `name(2)`. */
  name: string;
  args: readonly string[];
  /** With `$arg$` where arguments go. */
  definition: string;
  /** Whether `definition` is an eval expression whose text is the macro. */
  isEval: boolean;
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

export interface Knowledge {
  macro(name: string, args: number): Macro | undefined;
  savedSearch(name: string): SavedSearch | undefined;
  /** Rows of a lookup table, by its name with or without `.csv`. */
  lookup(name: string): Promise<Rows | undefined>;
  /** Writes a lookup table; made when there is none. */
  writeLookup(name: string, rows: Rows, mode: "replace" | "append"): Promise<void>;
  /** `field=value` pairs that have the tag. */
  tagged(tag: string): readonly { field: string; value: string }[];
  tagsOf(field: string, value: string): readonly string[];
  /** The search of an event type. */
  eventType(name: string): string | undefined;
  /** Every data model object of a model; the first is its root. */
  dataModel(name: string): readonly DataModelObject[];
  /** Results of a finished job, or of the last job of a saved search (`owner:app:name`). */
  jobResults(job: string): Promise<Rows | undefined>;
  /** Entries of one of the twin's own REST collections, for `rest`. */
  rest(path: string): Promise<Rows | undefined>;
  /** Stores events (`collect`, `outputlookup` aside). */
  collect(
    events: readonly { raw: string; timeMs: number; fields: Readonly<Record<string, string>> }[],
  ): Promise<void>;
  /** Names of the indexes there are. */
  indexes(): Promise<readonly string[]>;
}
