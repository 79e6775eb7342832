/** What the cluster says of itself. */
import type { Operation } from "../../sandbox/operation.ts";
import { knownIndices } from "../indices/known-indices.ts";
import { Double } from "../json/numbers.ts";
import { build, CLUSTER_NAME, CLUSTER_UUID, NODE_NAME, VERSION } from "../node.ts";
import type { SearchTwin } from "../search-twin.ts";
import { api } from "./answer.ts";

const waitParameters = [
  "level",
  "local",
  "master_timeout",
  "timeout",
  "wait_for_active_shards",
  "wait_for_events",
  "wait_for_no_initializing_shards",
  "wait_for_no_relocating_shards",
  "wait_for_nodes",
  "wait_for_status",
  "expand_wildcards",
  "return_200_for_cluster_health_timeout",
];

export const clusterOperations: readonly Operation<SearchTwin>[] = [
  api({
    id: "info",
    method: "GET",
    path: "/",
    summary: "What the cluster is: its name, version and build.",
    handle: () => ({
      body: {
        name: NODE_NAME,
        cluster_name: CLUSTER_NAME,
        cluster_uuid: CLUSTER_UUID,
        version: {
          number: VERSION,
          ...build,
          lucene_version: "9.11.1",
          minimum_wire_compatibility_version: "7.17.0",
          minimum_index_compatibility_version: "7.0.0",
        },
        tagline: "You Know, for Search",
      },
    }),
  }),
  api({
    id: "cluster.health",
    method: "GET",
    path: "/_cluster/health",
    summary: "The health of the cluster, which is always green.",
    parameters: waitParameters,
    handle: async (call, twin) => ({
      body: health(await knownIndices(twin), call.parameters.text("level") ?? "cluster"),
    }),
  }),
];

function health(indices: readonly string[], level: string) {
  const copies = {
    active_primary_shards: indices.length,
    active_shards: indices.length,
    relocating_shards: 0,
    initializing_shards: 0,
    unassigned_shards: 0,
  };
  const ofIndex = (level: string) => ({
    status: "green",
    number_of_shards: 1,
    number_of_replicas: 1,
    active_primary_shards: 1,
    active_shards: 1,
    relocating_shards: 0,
    initializing_shards: 0,
    unassigned_shards: 0,
    ...(level === "shards"
      ? {
          shards: {
            0: {
              status: "green",
              primary_active: true,
              active_shards: 1,
              relocating_shards: 0,
              initializing_shards: 0,
              unassigned_shards: 0,
            },
          },
        }
      : {}),
  });
  return {
    cluster_name: CLUSTER_NAME,
    status: "green",
    timed_out: false,
    number_of_nodes: 1,
    number_of_data_nodes: 1,
    ...copies,
    delayed_unassigned_shards: 0,
    number_of_pending_tasks: 0,
    number_of_in_flight_fetch: 0,
    task_max_waiting_in_queue_millis: 0,
    active_shards_percent_as_number: new Double(100),
    ...(level === "cluster" ? {} : { indices: new Map(indices.map((name) => [name, ofIndex(level)])) }),
  };
}
