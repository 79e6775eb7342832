/** The `_cat` routes: tables about the cluster for people. */
import type { Operation } from "@offhook/platform/http/operation";
import { expressionParameters } from "../indices/expression.ts";
import type { SearchTwin } from "../search-twin.ts";
import { NODE_ID, NODE_NAME } from "../vendor/node.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import {
  catAliases,
  catAllocation,
  catCount,
  catHealth,
  catIndices,
  catNode,
  catShards,
  catTemplates,
} from "./cat-rows.ts";
import { type CatColumn, type CatRow, catParameters, catTable } from "./cat-table.ts";

type Rows = (twin: SearchTwin, call: Call) => Promise<CatRow[]>;

function column(
  name: string,
  aliases: string[],
  description: string,
  more: Partial<CatColumn> = {},
): CatColumn {
  return { name, aliases, description, shown: true, ...more };
}

const right = { right: true };
const asked = { shown: false };

function table(
  name: string,
  segment: "index" | "name" | undefined,
  columns: readonly CatColumn[],
  rows: Rows,
): Operation<SearchTwin>[] {
  const parameters = [
    ...catParameters,
    ...expressionParameters,
    "health",
    "pri",
    "include_unloaded_segments",
    "full_id",
  ];
  const paths = segment ? [`/_cat/${name}`, `/_cat/${name}/:${segment}`] : [`/_cat/${name}`];
  return paths.map((path) =>
    api({
      id: `cat.${name}`,
      method: "GET",
      path,
      summary: `A table of ${name}.`,
      parameters,
      handle: async (call, twin): Promise<Answer> => catTable(call, columns, await rows(twin, call)),
    }),
  );
}

/** Routes listed by `/_cat`. */
const listed = [
  "aliases",
  "allocation",
  "count",
  "health",
  "indices",
  "master",
  "nodes",
  "plugins",
  "shards",
  "templates",
];

export const catOperations: readonly Operation<SearchTwin>[] = [
  api({
    id: "cat",
    method: "GET",
    path: "/_cat",
    summary: "Lists the tables.",
    handle: () => ({ body: `=^.^=\n${listed.map((name) => `/_cat/${name}\n`).join("")}` }),
  }),
  ...table(
    "indices",
    "index",
    [
      column("health", ["h"], "current health status"),
      column("status", ["s"], "open/close status"),
      column("index", ["i", "idx"], "index name"),
      column("uuid", ["id"], "index uuid"),
      column("pri", ["p", "shards.primary", "shardsPrimary"], "number of primary shards", right),
      column("rep", ["r", "shards.replica", "shardsReplica"], "number of replica shards", right),
      column("docs.count", ["dc", "docsCount"], "available docs", right),
      column("docs.deleted", ["dd", "docsDeleted"], "deleted docs", right),
      column("store.size", ["ss", "storeSize"], "store size of primaries & replicas", right),
      column("pri.store.size", [], "store size of primaries", right),
      column("dataset.size", [], "total size of dataset", right),
      column("creation.date", ["cd"], "index creation date (millisecond value)", { ...asked, right: true }),
      column("creation.date.string", ["cds"], "index creation date (as string)", asked),
    ],
    catIndices,
  ),
  ...table(
    "count",
    "index",
    [
      column("epoch", ["t", "time"], "seconds since 1970-01-01 00:00:00"),
      column("timestamp", ["ts", "hms", "hhmmss"], "time in HH:MM:SS"),
      column("count", ["dc", "docs.count", "docsCount"], "the document count"),
    ],
    catCount,
  ),
  ...table(
    "health",
    undefined,
    [
      column("epoch", ["t", "time"], "seconds since 1970-01-01 00:00:00"),
      column("timestamp", ["ts", "hms", "hhmmss"], "time in HH:MM:SS"),
      column("cluster", ["cl"], "cluster name"),
      column("status", ["st"], "health status"),
      column("node.total", ["nt", "nodeTotal"], "total number of nodes", right),
      column("node.data", ["nd", "nodeData"], "number of nodes that can store data", right),
      column("shards", ["t", "sh", "shards.total", "shardsTotal"], "total number of shards", right),
      column("pri", ["p", "shards.primary", "shardsPrimary"], "number of primary shards", right),
      column("relo", ["r", "shards.relocating", "shardsRelocating"], "number of relocating nodes", right),
      column(
        "init",
        ["i", "shards.initializing", "shardsInitializing"],
        "number of initializing nodes",
        right,
      ),
      column(
        "unassign",
        ["u", "shards.unassigned", "shardsUnassigned"],
        "number of unassigned shards",
        right,
      ),
      column("pending_tasks", ["pt", "pendingTasks"], "number of pending tasks", right),
      column("max_task_wait_time", ["mtwt", "maxTaskWaitTime"], "wait time of longest task pending", right),
      column(
        "active_shards_percent",
        ["asp", "activeShardsPercent"],
        "active number of shards in percent",
        right,
      ),
    ],
    catHealth,
  ),
  ...table(
    "nodes",
    undefined,
    [
      column("ip", ["i"], "ip address"),
      column("heap.percent", ["hp", "heapPercent"], "used heap ratio", right),
      column("ram.percent", ["rp", "ramPercent"], "used machine memory ratio", right),
      column("cpu", [], "recent cpu usage", right),
      column("load_1m", ["l"], "1m load avg", right),
      column("load_5m", [], "5m load avg", right),
      column("load_15m", [], "15m load avg", right),
      column("node.role", ["r", "role", "nodeRole"], "d:data node, i:ingest node, m:master-eligible node"),
      column("master", ["m"], "*:current master"),
      column("name", ["n"], "node name"),
      column("id", ["nodeId"], "unique node id", asked),
      column("version", ["v"], "es version", asked),
    ],
    async () => [catNode()],
  ),
  ...table(
    "master",
    undefined,
    [
      column("id", [], "node id"),
      column("host", ["h"], "host name"),
      column("ip", [], "ip address"),
      column("node", ["n"], "node name"),
    ],
    async () => [{ id: NODE_ID, host: "127.0.0.1", ip: "127.0.0.1", node: NODE_NAME }],
  ),
  ...table(
    "aliases",
    "name",
    [
      column("alias", ["a"], "alias name"),
      column("index", ["i", "idx"], "index alias points to"),
      column("filter", ["f", "fi"], "filter"),
      column("routing.index", ["ri", "routingIndex"], "index routing"),
      column("routing.search", ["rs", "routingSearch"], "search routing"),
      column("is_write_index", ["w", "isWriteIndex"], "write index"),
    ],
    catAliases,
  ),
  ...table(
    "shards",
    "index",
    [
      column("index", ["i", "idx"], "index name"),
      column("shard", ["s", "sh"], "shard name"),
      column("prirep", ["p", "pr", "primaryOrReplica"], "primary or replica"),
      column("state", ["st"], "shard state"),
      column("docs", ["d", "dc"], "number of docs in shard", right),
      column("store", ["sto"], "store size of shard", right),
      column("dataset", [], "total size of dataset", right),
      column("ip", [], "ip of node where it lives"),
      column("node", ["n"], "name of node where it lives"),
    ],
    catShards,
  ),
  ...table(
    "allocation",
    undefined,
    [
      column("shards", ["s"], "number of shards on node", right),
      column("host", ["h"], "host of node"),
      column("ip", [], "ip of node"),
      column("node", ["n"], "name of node"),
    ],
    catAllocation,
  ),
  ...table(
    "templates",
    "name",
    [
      column("name", ["n"], "template name"),
      column("index_patterns", ["t"], "template index patterns"),
      column("order", ["o", "p"], "template application order/priority number"),
      column("version", ["v"], "version"),
      column("composed_of", ["c"], "component templates comprising index template"),
    ],
    catTemplates,
  ),
  ...table(
    "plugins",
    undefined,
    [
      column("name", ["n"], "node name"),
      column("component", ["c"], "component"),
      column("version", ["v"], "component version"),
    ],
    async () => [],
  ),
];
