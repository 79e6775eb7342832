/** The `_cat` routes: tables of what there is. */
import type { Operation } from "../../sandbox/operation.ts";
import { formatDate } from "../dates/java-format.ts";
import { expressionParameters, readExpressionOptions } from "../indices/expression.ts";
import { countIndices } from "../indices/known-indices.ts";
import { CLUSTER_NAME, NODE_ID, NODE_NAME, uuidOf } from "../node.ts";
import { emptyRequest } from "../search/request.ts";
import { countHits, openSearch, scopeOf } from "../search/run.ts";
import type { SearchTwin } from "../search-twin.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { type CatColumn, type CatRow, catParameters, catTable } from "./cat-table.ts";
import { namedIndices } from "./indices.ts";

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

/** Routes that `/_cat` lists. */
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
    summary: "The tables there are.",
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
    async () => [],
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
    async (twin) => [
      {
        shards: String((await countIndices(twin)).size),
        host: "127.0.0.1",
        ip: "127.0.0.1",
        node: NODE_NAME,
      },
    ],
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
    async () => [],
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

async function catIndices(twin: SearchTwin, call: Call): Promise<CatRow[]> {
  const names = await namedIndices(call, twin);
  const counts = await countIndices(twin);
  const health = call.parameters.text("health");
  if (health !== undefined && health !== "green") return [];
  return names.map((index) => ({
    health: "green",
    status: "open",
    index,
    uuid: uuidOf(index),
    pri: "1",
    rep: "1",
    "docs.count": String(counts.get(index) ?? 0),
    "docs.deleted": "0",
    "store.size": call.parameters.has("bytes") ? "0" : "0b",
    "pri.store.size": call.parameters.has("bytes") ? "0" : "0b",
    "dataset.size": call.parameters.has("bytes") ? "0" : "0b",
    "creation.date": String(twin.startedMs),
    "creation.date.string": formatDate(twin.startedMs, "strict_date_optional_time"),
  }));
}

async function catCount(twin: SearchTwin, call: Call): Promise<CatRow[]> {
  const scope = await scopeOf(call.segment("index"), readExpressionOptions(call.parameters), twin);
  const count = await countHits(emptyRequest(), scope, await openSearch(call, twin));
  return [{ ...moment(twin), count: String(count) }];
}

async function catHealth(twin: SearchTwin): Promise<CatRow[]> {
  const shards = String((await countIndices(twin)).size);
  return [
    {
      ...moment(twin),
      cluster: CLUSTER_NAME,
      status: "green",
      "node.total": "1",
      "node.data": "1",
      shards,
      pri: shards,
      relo: "0",
      init: "0",
      unassign: "0",
      pending_tasks: "0",
      max_task_wait_time: "-",
      active_shards_percent: "100.0%",
    },
  ];
}

async function catShards(twin: SearchTwin, call: Call): Promise<CatRow[]> {
  const names = await namedIndices(call, twin);
  const counts = await countIndices(twin);
  return names.map((index) => ({
    index,
    shard: "0",
    prirep: "p",
    state: "STARTED",
    docs: String(counts.get(index) ?? 0),
    store: "0b",
    dataset: "0b",
    ip: "127.0.0.1",
    node: NODE_NAME,
  }));
}

function catNode(): CatRow {
  const { heapUsed, heapTotal } = process.memoryUsage();
  return {
    ip: "127.0.0.1",
    "heap.percent": String(Math.round((heapUsed / heapTotal) * 100)),
    "ram.percent": "0",
    cpu: "0",
    load_1m: "0.00",
    load_5m: "0.00",
    load_15m: "0.00",
    "node.role": "dim",
    master: "*",
    name: NODE_NAME,
    id: NODE_ID.slice(0, 4),
    version: "8.15.0",
  };
}

function moment({ clock }: SearchTwin): CatRow {
  const now = clock.now();
  return { epoch: String(Math.floor(now / 1000)), timestamp: formatDate(now, "HH:mm:ss") };
}
