/** Statistics of indices. */

import type { Operation } from "@offhook/platform/http/operation";
import { expressionParameters } from "../indices/expression.ts";
import { countIndices } from "../indices/index-registry.ts";
import type { SearchTwin } from "../search-twin.ts";
import { searchShards, uuidOf } from "../vendor/node.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { namedIndices } from "./indices.ts";

const parameters = [
  ...expressionParameters,
  "metric",
  "level",
  "fields",
  "completion_fields",
  "fielddata_fields",
  "groups",
  "include_segment_file_sizes",
  "include_unloaded_segments",
  "forbid_closed_indices",
];

export const statsOperations: readonly Operation<SearchTwin>[] = [
  "/_stats",
  "/_stats/:metric",
  "/:index/_stats",
  "/:index/_stats/:metric",
].map((path) =>
  api({
    id: "stats",
    method: "GET",
    path,
    summary: "Document counts of indices.",
    parameters,
    handle: stats,
  }),
);

async function stats(call: Call, twin: SearchTwin): Promise<Answer> {
  const names = await namedIndices(call, twin);
  const counts = await countIndices(twin);
  const sum = names.reduce((total, name) => total + (counts.get(name) ?? 0), 0);
  const both = (count: number) => ({ primaries: documentStats(count), total: documentStats(count) });
  const { skipped: _, ...shards } = searchShards(names.length);
  return {
    body: {
      _shards: { ...shards, total: names.length * 2 },
      _all: both(sum),
      indices: new Map(
        names.map((name) => [
          name,
          { uuid: uuidOf(name), health: "green", status: "open", ...both(counts.get(name) ?? 0) },
        ]),
      ),
    },
  };
}

/** Document counts; the store has no size per index. */
export function documentStats(count: number) {
  return {
    docs: { count, deleted: 0 },
    shard_stats: { total_count: 1 },
    store: { size_in_bytes: 0, total_data_set_size_in_bytes: 0, reserved_in_bytes: 0 },
    indexing: { index_total: count, index_failed: 0, delete_total: 0 },
    search: { open_contexts: 0, query_total: 0, fetch_total: 0, scroll_total: 0 },
    segments: {
      count: count === 0 ? 0 : 1,
      memory_in_bytes: 0,
      terms_memory_in_bytes: 0,
      stored_fields_memory_in_bytes: 0,
      term_vectors_memory_in_bytes: 0,
      norms_memory_in_bytes: 0,
      points_memory_in_bytes: 0,
      doc_values_memory_in_bytes: 0,
      index_writer_memory_in_bytes: 0,
      version_map_memory_in_bytes: 0,
      fixed_bit_set_memory_in_bytes: 0,
      max_unsafe_auto_id_timestamp: -1,
      file_sizes: {},
    },
  };
}
