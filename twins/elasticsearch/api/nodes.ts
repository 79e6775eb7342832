/** Routes about the node, the cluster's state and its settings. */

import os from "node:os";
import type { Operation } from "@offhook/platform/http/operation";
import { aliasesOf, countIndices } from "../indices/index-registry.ts";
import { mappingOf } from "../indices/mapping.ts";
import { settingsOf } from "../indices/settings.ts";
import type { SearchTwin } from "../search-twin.ts";
import {
  build,
  CLUSTER_NAME,
  CLUSTER_UUID,
  NODE_ID,
  NODE_NAME,
  ROLES,
  uuidOf,
  VERSION,
} from "../vendor/node.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { documentStats } from "./index-stats.ts";
import { managementParameters } from "./indices.ts";

const parameters = [
  ...managementParameters,
  "flat_settings",
  "include_defaults",
  "metric",
  "level",
  "types",
  "groups",
  "fields",
  "completion_fields",
  "fielddata_fields",
  "include_segment_file_sizes",
  "include_unloaded_segments",
  "node_id",
  "allow_no_indices",
  "expand_wildcards",
  "ignore_unavailable",
  "wait_for_metadata_version",
  "wait_for_timeout",
];

const ADDRESS = "127.0.0.1";

/** Members that every route about the node shares. */
const node = {
  name: NODE_NAME,
  transport_address: `${ADDRESS}:9300`,
  host: ADDRESS,
  ip: ADDRESS,
};
const counted = { total: 1, successful: 1, failed: 0 };

function nodeRoutes(
  id: string,
  paths: readonly string[],
  summary: string,
  body: Body,
): Operation<SearchTwin>[] {
  return paths.map((path) =>
    api({
      id,
      method: "GET",
      path,
      summary,
      parameters,
      handle: async (call, twin): Promise<Answer> => ({ body: await body(twin, call) }),
    }),
  );
}

type Body = (twin: SearchTwin, call: Call) => object | Promise<object>;

export const nodeOperations: readonly Operation<SearchTwin>[] = [
  ...nodeRoutes(
    "nodes.info",
    ["/_nodes", "/_nodes/:node", "/_nodes/:node/:metric"],
    "The one node of the cluster.",
    (twin) => ({ _nodes: counted, cluster_name: CLUSTER_NAME, nodes: { [NODE_ID]: nodeInfo(twin) } }),
  ),
  ...nodeRoutes(
    "nodes.stats",
    ["/_nodes/stats", "/_nodes/stats/:metric", "/_nodes/:node/stats", "/_nodes/:node/stats/:metric"],
    "Statistics of the node.",
    async (twin) => ({
      _nodes: counted,
      cluster_name: CLUSTER_NAME,
      nodes: { [NODE_ID]: await nodeStats(twin) },
    }),
  ),
  ...nodeRoutes(
    "cluster.state",
    ["/_cluster/state", "/_cluster/state/:metric", "/_cluster/state/:metric/:index"],
    "The state of the cluster.",
    clusterState,
  ),
  ...nodeRoutes("cluster.stats", ["/_cluster/stats"], "Statistics of the cluster.", clusterStats),
  ...nodeRoutes("cluster.settings", ["/_cluster/settings"], "Settings of the cluster: none are set.", () => ({
    persistent: {},
    transient: {},
  })),
  ...nodeRoutes(
    "cluster.pending-tasks",
    ["/_cluster/pending_tasks"],
    "Pending tasks of the cluster: none.",
    () => ({ tasks: [] }),
  ),
  ...nodeRoutes("tasks", ["/_tasks"], "Running tasks of the cluster: none.", () => ({ nodes: {} })),
  api({
    id: "cluster.settings.put",
    method: "PUT",
    path: "/_cluster/settings",
    summary: "Acknowledges settings without effect.",
    parameters,
    handle: (call) => {
      const { persistent = {}, transient = {} } = call.object();
      return { body: { acknowledged: true, persistent, transient } };
    },
  }),
];

function nodeInfo(twin: SearchTwin) {
  return {
    ...node,
    version: VERSION,
    transport_version: 8702003,
    index_version: 8512000,
    component_versions: {},
    build_flavor: build.build_flavor,
    build_type: build.build_type,
    build_hash: build.build_hash,
    roles: ROLES,
    attributes: {},
    settings: { cluster: { name: CLUSTER_NAME }, node: { name: NODE_NAME } },
    os: { name: os.type(), arch: os.arch(), available_processors: os.availableParallelism() },
    process: { id: process.pid, mlockall: false },
    jvm: { version: "22.0.1", start_time_in_millis: twin.startedMs },
    thread_pool: {},
    transport: { bound_address: [`${ADDRESS}:9300`], publish_address: `${ADDRESS}:9300`, profiles: {} },
    http: {
      bound_address: [`${ADDRESS}:9200`],
      publish_address: `${ADDRESS}:9200`,
      max_content_length_in_bytes: 104_857_600,
    },
    plugins: [],
    modules: [],
    ingest: { processors: [] },
    aggregations: {},
  };
}

async function nodeStats(twin: SearchTwin) {
  const { heapUsed, heapTotal, rss } = process.memoryUsage();
  const total = os.totalmem();
  const free = os.freemem();
  const counts = await countIndices(twin);
  return {
    timestamp: Math.floor(twin.clock.now()),
    ...node,
    roles: ROLES,
    attributes: {},
    indices: documentStats([...counts.values()].reduce((sum, count) => sum + count, 0)),
    os: {
      timestamp: Math.floor(twin.clock.now()),
      mem: {
        total_in_bytes: total,
        free_in_bytes: free,
        used_in_bytes: total - free,
        free_percent: Math.round((free / total) * 100),
        used_percent: Math.round(((total - free) / total) * 100),
      },
    },
    process: { mem: { total_virtual_in_bytes: rss } },
    jvm: {
      mem: {
        heap_used_in_bytes: heapUsed,
        heap_used_percent: Math.round((heapUsed / heapTotal) * 100),
        heap_max_in_bytes: heapTotal,
      },
      uptime_in_millis: Math.round(process.uptime() * 1000),
    },
    thread_pool: {},
    fs: { total: {} },
    // A single node talks to no other, and the gateway counts the connections.
    transport: {
      server_open: 0,
      total_outbound_connections: 0,
      rx_count: 0,
      rx_size_in_bytes: 0,
      tx_count: 0,
      tx_size_in_bytes: 0,
    },
    http: { current_open: 0, total_opened: 0, clients: [], routes: {} },
    breakers: {},
  };
}

async function clusterState(twin: SearchTwin, call: Call) {
  const names = [...(await countIndices(twin)).keys()];
  const { fields } = await twin.store();
  const metrics = call.segment("metric").split(",");
  const wants = (metric: string) =>
    metrics.includes("") || metrics.includes("_all") || metrics.includes(metric);
  const shard = (index: string) => [
    { state: "STARTED", primary: true, node: NODE_ID, relocating_node: null, shard: 0, index },
  ];
  return {
    cluster_name: CLUSTER_NAME,
    cluster_uuid: CLUSTER_UUID,
    ...(wants("version") ? { version: 1, state_uuid: uuidOf("state") } : {}),
    ...(wants("master_node") ? { master_node: NODE_ID } : {}),
    ...(wants("blocks") ? { blocks: {} } : {}),
    ...(wants("nodes")
      ? {
          nodes: {
            [NODE_ID]: {
              name: NODE_NAME,
              ephemeral_id: uuidOf("ephemeral"),
              transport_address: node.transport_address,
              attributes: {},
              roles: ROLES,
              version: VERSION,
            },
          },
        }
      : {}),
    ...(wants("metadata")
      ? {
          metadata: {
            cluster_uuid: CLUSTER_UUID,
            templates: {},
            indices: new Map(
              names.map((name) => [
                name,
                {
                  state: "open",
                  settings: settingsOf(name, twin.startedMs),
                  mappings: { _doc: mappingOf(fields, name) },
                  aliases: Object.keys(aliasesOf(name, fields, twin)),
                },
              ]),
            ),
          },
        }
      : {}),
    ...(wants("routing_table")
      ? { routing_table: { indices: new Map(names.map((name) => [name, { shards: { 0: shard(name) } }])) } }
      : {}),
  };
}

async function clusterStats(twin: SearchTwin) {
  const counts = await countIndices(twin);
  const documents = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return {
    _nodes: counted,
    cluster_name: CLUSTER_NAME,
    cluster_uuid: CLUSTER_UUID,
    timestamp: Math.floor(twin.clock.now()),
    status: "green",
    indices: {
      count: counts.size,
      shards: { total: counts.size, primaries: counts.size, replication: 0 },
      docs: { count: documents, deleted: 0 },
    },
    nodes: { count: { total: 1, data: 1, ingest: 1, master: 1 }, versions: [VERSION] },
  };
}
