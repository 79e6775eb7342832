/**
 * `fieldsummary`: a row of statistics for each field.
 * Source: https://help.splunk.com/splunk-enterprise/spl-search-reference/9.1/search-commands/fieldsummary
 */

import { raw, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { type Column, fieldValue, type Relation } from "../relation/relation.ts";
import { relationOf } from "../relation/rows.ts";
import { numberOf, textOf } from "../relation/typed.ts";
import { matchingColumns } from "../relation/wildcards.ts";
import { count } from "../syntax/option-types.ts";

const statistics = [
  { name: "count", type: "number" },
  { name: "distinct_count", type: "number" },
  { name: "is_exact", type: "number" },
  { name: "max", type: "number" },
  { name: "mean", type: "number" },
  { name: "min", type: "number" },
  { name: "numeric_count", type: "number" },
  { name: "stdev", type: "number" },
  { name: "values", type: "text" },
] as const;

export const fieldsummary = defineCommand({
  name: "fieldsummary",
  kind: "report",
  parse(reader) {
    const { maxvals = 100 } = reader.options({ maxvals: count });
    return { maxvals, patterns: reader.fields() };
  },
  async compile({ maxvals, patterns }, input, context) {
    const columns = matchingColumns(input, patterns.length === 0 ? ["*"] : patterns);
    columns.sort((a, b) => (a.name < b.name ? -1 : 1));
    const rows: ResultValue[][] = [];
    for (const column of columns) {
      const found = await summaryOf(column, input, maxvals, context);
      // Fields without any value are left out.
      if (Number(found[0]) > 0) rows.push([column.name, ...found]);
    }
    const named = { name: "field", type: "text", multi: false } as const;
    return relationOf({ fields: [named, ...statistics.map((one) => ({ ...one, multi: false }))], rows });
  },
});

/** The statistics of a field, in the order of `statistics`. */
async function summaryOf(
  column: Column,
  input: Relation,
  maxvals: number,
  context: SearchContext,
): Promise<ResultValue[]> {
  const value = fieldValue(column);
  const events = sql`SELECT ${value.sql} AS v FROM (${input.select}) AS r WHERE ${value.sql} IS NOT NULL`;
  const each = value.multi ? sql`SELECT unnest(v) AS v FROM (${events})` : events;
  const one = { ...value, multi: false, sql: raw("v") };
  const counted = sql`SELECT ${textOf(one)} AS v, ${numberOf(one)} AS n, count(*) AS c FROM (${each}) GROUP BY ALL`;
  const listed = maxvals === 0 ? raw("values") : sql`values[:${raw(String(maxvals))}]`;
  const mean = sql`sum(n * c) / sum(c) FILTER (n IS NOT NULL)`;
  const select = sql`SELECT (SELECT count(*) FROM (${events})) AS count, distinct_count,
      ${maxvals === 0 ? raw("1") : sql`CAST(distinct_count <= ${raw(String(maxvals))} AS INTEGER)`} AS is_exact,
      max, mean, min, coalesce(numeric_count, 0) AS numeric_count,
      CASE WHEN numeric_count > 1 THEN sqrt(greatest(squares, 0) / (numeric_count - 1)) WHEN numeric_count = 1 THEN 0 END AS stdev,
      CAST(to_json(${listed}) AS VARCHAR) AS values
    FROM (SELECT count(*) AS distinct_count, max(n) AS max, min(n) AS min, any_value(m) AS mean,
            sum(c) FILTER (n IS NOT NULL) AS numeric_count, sum(c * (n - m) * (n - m)) AS squares,
            list({'value': v, 'count': c} ORDER BY c DESC, v) AS values
          FROM (SELECT v, n, c, (SELECT ${mean} FROM (${counted})) AS m FROM (${counted})))`;
  const relation: Relation = {
    select,
    columns: statistics.map(({ name, type }) => ({ name, column: name, type, multi: false })),
    order: [],
    kind: "report",
  };
  const { rows } = await context.run(relation, 1);
  return rows[0] ?? [];
}
