/** Cluster routes: banner, health, state and statistics. */

import type { Operation } from "@offhook/platform/http/operation";
import { readExpressionOptions } from "../indices/expression.ts";
import { Double } from "../json/numbers.ts";
import { scopeOf } from "../search/context.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { build, CLUSTER_NAME, CLUSTER_UUID, NODE_NAME, VERSION } from "../vendor/node.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";

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
];

export const clusterOperations: readonly Operation<SearchTwin>[] = [
  api({
    id: "info",
    method: "GET",
    path: "/",
    summary: "Name, version and build of the cluster.",
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
  ...["/_cluster/health", "/_cluster/health/:index"].map((path) =>
    api({
      id: "cluster.health",
      method: "GET",
      path,
      summary: "Health of the cluster or of indices: green unless an index is missing.",
      parameters: waitParameters,
      handle: clusterHealth,
    }),
  ),
];

const levels = ["cluster", "indices", "shards"];

/** Health of a named index that does not exist times out at once, as no index will appear. */
async function clusterHealth(call: Call, twin: SearchTwin): Promise<Answer> {
  const { parameters } = call;
  const level = parameters.text("level") ?? "cluster";
  if (!levels.includes(level)) {
    const choice = levels.map((one) => `[${one}]`).join(" or ");
    throw illegalArgument(`level parameter must be one of ${choice} but was [${level}]`);
  }
  for (const name of ["timeout", "master_timeout"]) parameters.durationMs(name);
  const options = readExpressionOptions(parameters);
  const expression = call.segment("index");
  const lenient = { ...options, ignoreUnavailable: true, allowNoIndices: true };
  const { selection } = await scopeOf(expression, lenient, twin);
  const status = await scopeOf(expression, { ...lenient, ignoreUnavailable: false }, twin).then(
    () => "green" as const,
    (error) => {
      if (error instanceof VendorError && error.status === 404) return "red" as const;
      throw error;
    },
  );
  return { status: status === "green" ? 200 : 408, body: health(selection.names, level, status) };
}

function health(indices: readonly string[], level: string, status: "green" | "red") {
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
    status,
    timed_out: status === "red",
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
