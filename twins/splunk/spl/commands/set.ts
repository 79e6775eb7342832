/** `set`: union, difference or intersection of two searches. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { limitSubsearch } from "../context/subsearch-limit.ts";
import { withRowNumber } from "../relation/order.ts";
import { outputsOf, project, type Relation } from "../relation/relation.ts";
import { concat } from "../relation/union.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";

export const set = defineCommand({
  name: "set",
  kind: "generating",
  parse(reader) {
    const operation = readOperation(reader);
    const first = reader.subsearch();
    const second = reader.subsearch();
    if (first === undefined || second === undefined) {
      return reader.fail(
        "Three arguments are required: [<search pipeline>] [+(union) | -(diff) | ^(intersect)] [<search pipeline>].",
      );
    }
    return { operation, first, second };
  },
  async compile({ operation, first, second }, _input, context) {
    const sides = await Promise.all(
      [first, second].map(async ({ pipeline }, index) => {
        const rows = externalFields(await context.subrelation(pipeline));
        return withSide(await limitSubsearch(rows, context.limits.joinMaxRows, context), index);
      }),
    );
    return deduplicate(concat(...sides), groupConditions[operation]);
  },
});

type Operation = "union" | "diff" | "intersect";

function readOperation(reader: ArgumentReader): Operation {
  if (reader.keyword("union")) return "union";
  if (reader.keyword("diff")) return "diff";
  if (reader.keyword("intersect")) return "intersect";
  return reader.fail("The set operator is invalid. It must be either +(union), -(diff), or ^(intersect).");
}

/** Conditions on a group of equal rows: which of the searches it comes from. */
const groupConditions: Readonly<Record<Operation, Sql>> = {
  union: raw("true"),
  diff: raw('min("#side") = max("#side")'),
  intersect: raw('min("#side") <> max("#side")'),
};

/** Without internal fields: they are neither compared nor returned. */
function externalFields(relation: Relation): Relation {
  return project(
    relation,
    outputsOf(relation).filter(({ name }) => !name.startsWith("_")),
    "report",
  );
}

const MARK = "#side";

function withSide(relation: Relation, side: number): Relation {
  const value = { type: "number", multi: false, sql: raw(String(side)) } as const;
  return project(relation, [...outputsOf(relation), { name: MARK, value }]);
}

/** Deduplicates rows at their first position. */
function deduplicate(relation: Relation, condition: Sql): Relation {
  const rows = withRowNumber(relation);
  const columns = rows.columns.filter(({ name }) => name !== MARK);
  const names = columns.map(({ column }) => identifier(column));
  const items = [...names, sql`min("#order0") AS "#order0"`];
  const groups = names.length === 0 ? raw("") : sql`GROUP BY ${joined(names, ", ")}`;
  return {
    ...rows,
    columns,
    select: sql`SELECT ${joined(items, ", ")} FROM (${rows.select}) AS r ${groups} HAVING count(*) > 0 AND ${condition}`,
  };
}
