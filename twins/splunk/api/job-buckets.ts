/** Writes the buckets of timeline and summary. */
import type { Bucket } from "../jobs/timeline.ts";

/** Formats a time, given in seconds since the epoch. */
export type TimeFormatter = (seconds: number) => string;

export function bucketObject({ startMs, endMs, count }: Bucket, time: TimeFormatter): object {
  return {
    total_count: count,
    available_count: count,
    is_finalized: true,
    duration: (endMs - startMs) / 1000,
    earliest_strftime: time(startMs / 1000),
    earliest_time: startMs / 1000,
    earliest_time_offset: 0,
    latest_time_offset: 0,
  };
}

export function bucketElement({ startMs, endMs, count }: Bucket, time: TimeFormatter): string {
  const duration = (endMs - startMs) / 1000;
  return `  <bucket c='${count}' a='${count}' t='${startMs / 1000}' d='${duration}' f='1' etz='0' ltz='0'>${time(startMs / 1000)}</bucket>\n`;
}
