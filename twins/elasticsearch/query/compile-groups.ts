/** A query over indices that map its fields differently: each group compiles it with its own fields and its own statistics. */

import { joined, type Sql, sql } from "@offhook/log-store/sql";
import type { IndexGroup } from "../indices/visible-fields.ts";
import { isShardFailure } from "../vendor/shard-failure.ts";
import type { Ask, CompiledQuery, ShardFailures } from "./compiled-query.ts";
import type { Mark } from "./mark.ts";

interface Part {
  readonly group: IndexGroup;
  readonly query: CompiledQuery;
}

/** @param compile compiles the query with the fields of one group */
export function compileForGroups(
  groups: readonly IndexGroup[],
  compile: (group: IndexGroup) => CompiledQuery,
): CompiledQuery {
  const failures: ShardFailures[] = [];
  const parts = groups.flatMap((group) => {
    try {
      return [{ group, query: compile(group) }];
    } catch (error) {
      if (!isShardFailure(error)) throw error;
      failures.push({ names: group.names, error });
      return [];
    }
  });
  const [failed] = failures;
  if (failed && parts.length === 0) throw failed.error;
  const predicate = failed ? partsPredicate(parts) : predicateOf(parts);
  const names = new Set(parts.flatMap(({ query }) => [...query.named.keys()]));
  return {
    predicate,
    matches: sql`SELECT d._row FROM documents AS d WHERE ${predicate}`,
    get scored() {
      return joined(parts.map(scoresIn), " UNION ALL ");
    },
    get constantScore() {
      const scores = new Set(parts.map(({ query }) => query.constantScore));
      const [only] = scores;
      return scores.size === 1 && typeof only === "number" ? only : undefined;
    },
    dropped: parts[0]?.query.dropped ?? [],
    failures,
    marks: marksOf(parts),
    named: new Map([...names].map((name) => [name, namedPredicate(parts, name)])),
    explain: (ask, row) => explain(parts, ask, row),
  };
}

function predicateOf(parts: readonly Part[]): Sql {
  // The search restricts the indices by itself, so `true` for every group needs no group predicates.
  if (parts.every(({ query }) => query.predicate.text === "true")) return sql`true`;
  return partsPredicate(parts);
}

function partsPredicate(parts: readonly Part[]): Sql {
  return anyOf(parts.map(({ group, query }) => sql`(${group.predicate} AND ${query.predicate})`));
}

function namedPredicate(parts: readonly Part[], name: string): Sql {
  return anyOf(
    parts.flatMap(({ group, query }) => {
      const predicate = query.named.get(name);
      return predicate ? [sql`(${group.predicate} AND ${predicate})`] : [];
    }),
  );
}

function anyOf(predicates: readonly Sql[]): Sql {
  return sql`(${joined(predicates, " OR ")})`;
}

function scoresIn({ group, query }: Part): Sql {
  return sql`SELECT s._row, s.score FROM (${query.scored}) AS s JOIN documents AS d ON d._row = s._row WHERE ${group.predicate}`;
}

function marksOf(parts: readonly Part[]): Map<string, Mark[]> {
  const marks = new Map<string, Mark[]>();
  for (const { query } of parts) {
    for (const [field, found] of query.marks) marks.set(field, [...(marks.get(field) ?? []), ...found]);
  }
  return marks;
}

async function explain(parts: readonly Part[], ask: Ask, row: bigint) {
  for (const { group, query } of parts) {
    const found = await ask(sql`SELECT 1 FROM documents AS d WHERE d._row = ${row} AND ${group.predicate}`);
    if (found.length > 0) return query.explain(ask, row);
  }
  return undefined;
}
