/** The body of `/raw`: lines, of which those without a time belong to the event before. */
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import { findTimestamp } from "./timestamps.ts";

/** `MAX_EVENTS`: lines of one event. */
const MAX_LINES = 256;
/** Source types whose every line is an event: `SHOULD_LINEMERGE = false`. */
const UNMERGED: ReadonlySet<string> = new Set(["_json", "json_no_timestamp"]);

export interface RawEvent {
  text: string;
  /** By the event's own words; `undefined` when it says nothing. */
  timeMicros: number | undefined;
}

export function rawEvents(body: string, sourcetype: string, zone: TimeZone): RawEvent[] {
  const merged = !UNMERGED.has(sourcetype);
  const events: { lines: string[]; timeMicros: number | undefined }[] = [];
  for (const line of body.split(/\r\n|\n|\r/)) {
    const last = events.at(-1);
    if (line.trim() === "") {
      if (merged && last) last.lines.push(line);
      continue;
    }
    const timeMicros = findTimestamp(line, zone);
    const joins = merged && timeMicros === undefined && last && last.lines.length < MAX_LINES;
    if (joins) last.lines.push(line);
    else events.push({ lines: [line], timeMicros });
  }
  return events.map(({ lines, timeMicros }) => ({ text: lines.join("\n").trimEnd(), timeMicros }));
}
