/** How rows say which bucket they are in. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";

interface Level {
  /** Table of the buckets: their number `b`, their parent's number `p`, their keys. */
  selected: Sql;
  keys: readonly { column: Sql; key: Sql; nullable: boolean }[];
}

/** A number of a bucket in the column `base`, then the keys of buckets in it, each level in the one before. */
export interface BucketPath {
  base: Sql | undefined;
  levels: readonly Level[];
  /** Table of the buckets it leads to. */
  buckets: Sql;
}

/** Columns of the rows that say which bucket. */
export function bucketColumns({ base, levels }: BucketPath): Sql[] {
  return [...(base ? [base] : []), ...levels.flatMap(({ keys }) => keys.map(({ column }) => column))];
}

/**
 * The rows of a table, each with the number of its bucket; rows of no bucket are left out.
 * @param columns of the table to go on with
 * @param name of the number
 */
export function numberedBuckets(
  { base, levels }: BucketPath,
  table: Sql,
  columns: readonly Sql[],
  name: Sql = raw("p"),
): Sql {
  const alias = (index: number) => raw(`level${index}`);
  const shown = columns.map((column) => sql`d.${column}`);
  if (levels.length === 0)
    return sql`SELECT d.${base ?? raw("p")} AS ${name}, ${joined(shown, ", ")} FROM ${table} AS d`;
  const joins = levels.map(({ selected, keys }, index) => {
    const matches = keys.map(({ column, key, nullable }) => {
      const equal = raw(nullable ? "IS NOT DISTINCT FROM" : "=");
      return sql`d.${column} ${equal} ${alias(index)}.${key}`;
    });
    if (index > 0) matches.push(sql`${alias(index)}.p = ${alias(index - 1)}.b`);
    else if (base) matches.push(sql`${alias(index)}.p = d.${base}`);
    return sql`JOIN ${selected} AS ${alias(index)} ON ${joined(matches, " AND ")}`;
  });
  const number = sql`${alias(levels.length - 1)}.b AS ${name}`;
  return sql`SELECT ${number}, ${joined(shown, ", ")} FROM ${table} AS d ${joined(joins, " ")}`;
}
