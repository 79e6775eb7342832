/** `stats`: aggregates over all rows, or over groups. */
import { joined, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { fieldValue, filter, type Relation } from "../relation/relation.ts";
import { resolveAggregates } from "../stats/aggregation.ts";
import { checkAggregates } from "../stats/check-aggregates.ts";
import { groupRows, groupsOf, orderByGroups, unnestGroups } from "../stats/group.ts";
import { expandPrestats } from "../stats/prestats.ts";
import { groupSite } from "../stats/site.ts";
import { siteOptions } from "../stats/site-options.ts";
import { readAggregates, readBy } from "../syntax/aggregates.ts";
import { boolean, count, text } from "../syntax/option-types.ts";

export const stats = defineCommand({
  name: "stats",
  kind: "report",
  parse(reader) {
    const { allnum = false, delim = " " } = reader.options({
      allnum: boolean,
      partitions: count,
      delim: text,
    });
    const calls = readAggregates(reader);
    checkAggregates(calls, "stats");
    const by = readBy(reader, ["dedup_splitvals"]);
    // As in Splunk's grammar, aggregates are optional after BY: the result lists the groups.
    if (calls.length === 0 && by.length === 0) reader.fail("No aggregation is given.");
    const { dedup_splitvals: distinctValues = false } = reader.options({ dedup_splitvals: boolean });
    return { calls, by, onlyNumbers: allnum, delimiter: delim, distinctValues };
  },
  async compile({ calls, by, onlyNumbers, delimiter, distinctValues }, given, context) {
    const input = expandPrestats(given);
    const aggregations = await resolveAggregates(calls, input, context, { command: "stats", by });
    const rows = unnestGroups(input, groupsOf(by, input), { distinctValues });
    const site = groupSite(await siteOptions(rows.input, context, aggregations, { onlyNumbers }));
    const found = await groupRows(rows.input, rows.groups, aggregations, site);
    const aggregates = found.aggregates.map((output) =>
      output.value.multi ? { ...output, delimiter } : output,
    );
    const { range } = input;
    const all = orderByGroups({ ...found, aggregates });
    // Without groups, drops the row when all aggregates are NULL.
    const known = by.length === 0 ? filter(all, anyOf(all)) : all;
    return { ...known, ...(range === undefined ? {} : { range }) };
  },
});

function anyOf({ columns }: Relation): Sql {
  return joined(
    columns.map((column) => sql`${fieldValue(column).sql} IS NOT NULL`),
    " OR ",
  );
}
