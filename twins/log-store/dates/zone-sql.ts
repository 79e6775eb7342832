/** Conversions to local time, in SQL. */
import { raw, type Sql, sql } from "../sql.ts";
import type { TimeZone } from "./time-zone.ts";
import { type Transition, transitionsOf } from "./transitions.ts";

/** The local time of a moment: both in milliseconds, the local time as if it were UTC. */
export function localSql(epochMs: Sql, zone: TimeZone): Sql {
  if (zone.fixedOffsetMs === 0) return sql`(${epochMs})`;
  return sql`(${epochMs} + ${offsetSql(epochMs, zone)})`;
}

/** How far local clocks are ahead of UTC at a moment, in milliseconds. */
export function offsetSql(epochMs: Sql, zone: TimeZone): Sql {
  if (zone.fixedOffsetMs !== undefined) return raw(`(${zone.fixedOffsetMs})`);
  return offsetCase(epochMs, transitionsOf(zone), zone);
}

/** A binary search over the transitions, as nested CASE. */
function offsetCase(epochMs: Sql, transitions: readonly Transition[], zone: TimeZone): Sql {
  const branch = (first: number, last: number): Sql => {
    if (first > last) {
      const before = transitions[first - 1];
      return raw(String(before?.offsetMs ?? zone.offsetAt((transitions[0]?.atMs ?? 0) - 1)));
    }
    const middle = (first + last) >> 1;
    const at = raw(String(transitions[middle]?.atMs ?? 0));
    return sql`CASE WHEN ${epochMs} < ${at} THEN ${branch(first, middle - 1)} ELSE ${branch(middle + 1, last)} END`;
  };
  return branch(0, transitions.length - 1);
}
