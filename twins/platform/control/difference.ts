/** `/sim/difference`: how a twin's world differs from its start, or from its last reset. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { emptyRecord } from "../base/lookup-table.ts";
import { errorResponse, readQueryAs } from "../http/errors.ts";
import { type Operation, operation } from "../http/operation.ts";
import { type DifferenceCounts, DifferenceUnknown, type Row, type RowDifference } from "../world/world.ts";
import { pageParameters } from "./paging.ts";
import type { ControlTarget } from "./target.ts";

const differenceQuery = z.strictObject({ table: z.string().optional(), ...pageParameters });

export const differenceOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "difference",
    method: "GET",
    path: "/sim/difference",
    surface: "rest",
    summary:
      "The rows added, changed and removed since the start or the last reset, with counts of every table.",
    async handle(request, { twin: { world } }) {
      const query = readQueryAs(request, differenceQuery);
      if (!query.ok) return query.response;
      const { table, limit, offset } = query.value;
      try {
        const { rows, uncompared } = await world.difference();
        const found = table === undefined ? rows : rows.filter((row) => row.table === table);
        return {
          status: 200,
          body: {
            tables: { ...countRows(rows), ...uncompared },
            uncompared: Object.keys(uncompared),
            rows: found.slice(offset, offset + limit).map(showDifference),
            total: found.length,
            limit,
            offset,
          },
        };
      } catch (error) {
        if (error instanceof DifferenceUnknown) return errorResponse(422, "unknown", error.message);
        throw error;
      }
    },
  }),
];

function countRows(rows: readonly RowDifference[]): Record<string, DifferenceCounts> {
  const tables = emptyRecord<DifferenceCounts>();
  for (const { table, difference } of rows) {
    const counts = tables[table] ?? { added: 0, changed: 0, removed: 0 };
    counts[difference]++;
    tables[table] = counts;
  }
  return tables;
}

function showDifference({ table, difference, key, before, after }: RowDifference) {
  const shown = { table, difference, key, row: after ?? before };
  return before && after ? { ...shown, columns: changedColumns(before, after) } : shown;
}

function changedColumns(before: Readonly<Row>, after: Readonly<Row>) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return Object.fromEntries(
    changed.map((name) => [name, { before: before[name] ?? null, after: after[name] ?? null }]),
  );
}
