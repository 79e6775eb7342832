/** Removes rows inside an open transaction, and finds the references to them when Postgres refuses. */

import type { Problem } from "@offhook/platform/world/world";
import pg from "pg";
import { problemOf } from "./broken-rules.ts";
import type { Catalogue, Column, ForeignKey, Queryable, Table } from "./catalogue.ts";
import { isRefusal } from "./insert-rows.ts";
import { whereClause } from "./select-rows.ts";

type Texts = Map<Column, string | null>;

/** Rows named for each foreign key that prevents the removal. */
const MAX_NAMED = 100;

/** @returns the problems; with any, the caller rolls back */
export async function removeRows(
  client: Queryable,
  catalogue: Catalogue,
  table: Table,
  where: Texts,
): Promise<{ removed: number; problems: Problem[] }> {
  const values: (string | null)[] = [];
  const clause = whereClause(where, values);
  await client.query("SAVEPOINT removal");
  try {
    const { rowCount } = await client.query(`DELETE FROM ${table.sql} ${clause}`, values);
    await client.query("SET CONSTRAINTS ALL IMMEDIATE");
    return { removed: rowCount ?? 0, problems: [] };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await client.query("ROLLBACK TO SAVEPOINT removal");
    const problems: Problem[] = [];
    for (const referring of catalogue.tables.values()) {
      for (const key of referring.foreignKeys) {
        if (key.table !== table.name || !key.keepsTarget) continue;
        problems.push(...(await findReferences(client, { table, clause, values }, referring, key)));
      }
    }
    return { removed: 0, problems: problems.length > 0 ? problems : [problemOf(error)] };
  }
}

interface Selected {
  table: Table;
  clause: string;
  values: (string | null)[];
}

/** One problem for each selected row that a remaining row refers to. */
async function findReferences(
  client: Queryable,
  { table, clause, values }: Selected,
  referring: Table,
  key: ForeignKey,
): Promise<Problem[]> {
  const pairs = key.targetColumns.map(
    (column, i) => `x.${pg.escapeIdentifier(key.columns[i] ?? "")} = chosen.${pg.escapeIdentifier(column)}`,
  );
  const exceptRemoved =
    referring.name === table.name ? `AND x.ctid NOT IN (SELECT ctid FROM ${table.sql} ${clause})` : "";
  const texts = key.targetColumns.map((column) => `chosen.${pg.escapeIdentifier(column)}::text`).join(", ");
  const { rows } = await client.query<[string[], string]>({
    text: `SELECT ARRAY[${texts}], count(*)::text FROM (SELECT * FROM ${table.sql} ${clause}) AS chosen
             JOIN ${referring.sql} AS x ON ${pairs.join(" AND ")} ${exceptRemoved}
            GROUP BY 1 ORDER BY 1 LIMIT ${MAX_NAMED}`,
    values,
    rowMode: "array",
  });
  return rows.map(([found, count]) => ({
    table: table.name,
    column: key.targetColumns.join(", "),
    value: found.length === 1 ? found[0] : found,
    rule: `is referred to by ${count} row${count === "1" ? "" : "s"} (${referring.name}.${key.columns.join(", ")}); remove those first`,
  }));
}
