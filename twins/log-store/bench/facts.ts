/** What the questions of `bench search` need to know of the events they ask about. */
export interface Facts {
  events: number;
  /** `trace.id` of some events, which are anywhere among the others. */
  traces: string[];
}
