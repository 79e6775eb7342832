/** How rows identify their bucket. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";

interface Level {
  /** Table of the buckets: their number `b`, their parent's number `p`, and their keys. */
  selected: Sql;
  keys: readonly { column: Sql; key: Sql; nullable: boolean }[];
}

/** A bucket number in the column `base`, followed by the keys of nested buckets, outermost first. */
export interface BucketPath {
  base: Sql | undefined;
  levels: readonly Level[];
  /** Table of the innermost buckets. */
  buckets: Sql;
}

/** The columns that identify a row's bucket. */
export function bucketColumns({ base, levels }: BucketPath): Sql[] {
  return [...(base ? [base] : []), ...levels.flatMap(({ keys }) => keys.map(({ column }) => column))];
}

/**
 * Selects the rows of a table with their bucket numbers; rows outside all buckets are dropped.
 * @param columns of the table to keep
 * @param name of the bucket number
 */
export function withBucketNumbers(
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
