/** `eventstats`: aggregates of all rows, or of a row's group, in each row. */
import { joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import { defineCommand } from "../command.ts";
import { numbered } from "../ordered-rows.ts";
import { extend } from "../relation.ts";
import { resolveAggregates } from "../stats/aggregation.ts";
import { checkAggregates } from "../stats/check-aggregates.ts";
import { groupsOf } from "../stats/group.ts";
import { siteOptions } from "../stats/row-time.ts";
import { needOrder } from "../stats/rows-in-order.ts";
import { windowSite } from "../stats/site.ts";
import { rowNumber, windowed } from "../stats/windowed.ts";
import { readAggregates, readBy } from "../syntax/aggregates.ts";
import { boolean } from "../syntax/option-types.ts";

export const eventstats = defineCommand({
  name: "eventstats",
  kind: "report",
  parse(reader) {
    const { allnum = false } = reader.options({ allnum: boolean });
    const calls = readAggregates(reader);
    if (calls.length === 0) reader.fail("No aggregation is given.");
    checkAggregates(calls, "eventstats");
    return { calls, by: readBy(reader), onlyNumbers: allnum };
  },
  async compile({ calls, by, onlyNumbers }, input, context) {
    const aggregations = await resolveAggregates(calls, input, context, { command: "eventstats", by });
    const rows = needOrder(aggregations) ? numbered(input) : input;
    const keys = groupsOf(by, rows).map(({ value }): Sql => value?.sql ?? raw("NULL"));
    const window = keys.length === 0 ? raw("()") : sql`(PARTITION BY ${joined(keys, ", ")})`;
    const options = await siteOptions(rows, context, aggregations, onlyNumbers);
    const site = windowSite(options, rowNumber, window);
    return extend(rows, await windowed(aggregations, site, keys));
  },
});
