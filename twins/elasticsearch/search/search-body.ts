/** The answer to a search. */
import { Float } from "../json/numbers.ts";
import { NODE_ID, searchShards } from "../vendor/node.ts";
import { NOT_COUNTED, type SearchRequest } from "./request.ts";
import type { SearchResult } from "./run.ts";

export function searchBody(result: SearchResult, request: SearchRequest, { totalAsNumber = false } = {}) {
  const { total, hasMore } = result;
  const counted = { value: total, relation: hasMore ? "gte" : "eq" };
  return {
    took: result.tookMs,
    timed_out: result.timedOut,
    ...(result.terminatedEarly === undefined ? {} : { terminated_early: result.terminatedEarly }),
    _shards: shardsOf(result),
    hits: {
      ...(request.countUpTo === NOT_COUNTED ? {} : { total: totalAsNumber ? total : counted }),
      max_score: maxScoreOf(result),
      hits: result.hits,
    },
    ...(result.aggregations ? { aggregations: result.aggregations } : {}),
    ...(request.profile ? { profile: profileOf(result) } : {}),
  };
}

function shardsOf({ shards, failures }: SearchResult): object {
  if (failures.length === 0) return searchShards(shards);
  return {
    ...searchShards(shards),
    successful: shards - failures.length,
    failed: failures.length,
    failures,
  };
}

const NANOS_PER_MS = 1_000_000;

/**
 * `profile` with the whole search as one clause: the database does not report its parts, and the journal holds the SQL.
 */
function profileOf({ tookMs, index }: SearchResult) {
  const time_in_nanos = tookMs * NANOS_PER_MS;
  const query = {
    type: "SqlQuery",
    description: "the search as one statement",
    time_in_nanos,
    breakdown: {},
  };
  const collector = [{ name: "SqlCollector", reason: "search_top_hits", time_in_nanos }];
  const shard = {
    id: `[${NODE_ID}][${index}][0]`,
    node_id: NODE_ID,
    shard_id: 0,
    index,
    cluster: "(local)",
    searches: [{ query: [query], rewrite_time: 0, collector }],
    aggregations: [],
  };
  return { shards: [shard] };
}

function maxScoreOf({ shards, maxScore }: SearchResult): Float | null {
  if (shards === 0) return new Float(0);
  return maxScore === undefined ? null : new Float(maxScore);
}
