/** An event on its way into the store. */
export interface NewEvent {
  /** Its text. */
  raw: string;
  /** When it happened, in microseconds since 1970. */
  timeMicros: number;
  index: string;
  host: string;
  source: string;
  sourcetype: string;
  /** Its other fields. A name that is there twice has its first values. */
  fields: readonly EventField[];
}

export type EventField = readonly [name: string, values: readonly string[]];
