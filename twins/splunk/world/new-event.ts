/** An event on its way into the store. */
export interface NewEvent {
  /** Its text. */
  raw: string;
  /** Time of the event, in microseconds since 1970. */
  timeMicros: number;
  index: string;
  host: string;
  source: string;
  sourcetype: string;
  /** Its other fields. Of repeated names the first counts. */
  fields: readonly EventField[];
}

export type EventField = readonly [name: string, values: readonly string[]];
