/** `addinfo`: the search's time range and its sid, in every row. */
import { sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { extend } from "../relation/relation.ts";
import type { Typed } from "../relation/typed.ts";

export const addinfo = defineCommand({
  name: "addinfo",
  kind: "streaming",
  parse: () => ({}),
  compile(_, input, { range, sid, nowMs }) {
    const { earliestMs = 0, latestMs } = range;
    return extend(
      input,
      new Map([
        ["info_min_time", seconds(earliestMs)],
        ["info_max_time", latestMs === undefined ? text("+Infinity") : seconds(latestMs)],
        ["info_sid", text(sid)],
        ["info_search_time", seconds(nowMs)],
      ]),
    );
  },
});

/** splunkd writes these times with three decimals: `1768478400.000`. */
function seconds(ms: number): Typed {
  return text((ms / 1000).toFixed(3));
}

function text(value: string): Typed {
  return { type: "text", multi: false, sql: sql`CAST(${value} AS VARCHAR)` };
}
