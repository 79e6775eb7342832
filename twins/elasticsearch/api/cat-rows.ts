/** The rows of the `_cat` tables. */

import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { formatDate } from "../dates/java-format.ts";
import { readExpressionOptions } from "../indices/expression.ts";
import { aliasesOf, aliasTargets, countIndices } from "../indices/index-registry.ts";
import type { Json } from "../json/read.ts";
import { scopeOf } from "../search/context.ts";
import { emptyRequest } from "../search/request.ts";
import { countHits } from "../search/run.ts";
import type { SearchTwin } from "../search-twin.ts";
import { CLUSTER_NAME, NODE_ID, NODE_NAME, uuidOf } from "../vendor/node.ts";
import type { Call } from "./call.ts";
import type { CatRow } from "./cat-table.ts";
import { namedIndices } from "./indices.ts";

export async function catIndices(twin: SearchTwin, call: Call): Promise<CatRow[]> {
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

export async function catCount(twin: SearchTwin, call: Call): Promise<CatRow[]> {
  const scope = await scopeOf(call.segment("index"), readExpressionOptions(call.parameters), twin);
  const count = await countHits(emptyRequest(), scope, await call.openSearch(twin));
  return [{ ...showTime(twin), count: String(count) }];
}

export async function catHealth(twin: SearchTwin): Promise<CatRow[]> {
  const shards = String((await countIndices(twin)).size);
  return [
    {
      ...showTime(twin),
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

export async function catShards(twin: SearchTwin, call: Call): Promise<CatRow[]> {
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

export async function catAllocation(twin: SearchTwin): Promise<CatRow[]> {
  const shards = String((await countIndices(twin)).size);
  return [{ shards, host: "127.0.0.1", ip: "127.0.0.1", node: NODE_NAME }];
}

export function catNode(): CatRow {
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

function showTime({ clock }: SearchTwin): CatRow {
  const now = clock.now();
  return { epoch: String(Math.floor(now / 1000)), timestamp: formatDate(now, "HH:mm:ss") };
}

export async function catAliases(twin: SearchTwin, call: Call): Promise<CatRow[]> {
  const { fields } = await twin.store();
  const targets = await aliasTargets(twin);
  const patterns = call.segment("name") === "" ? ["*"] : call.segment("name").split(",");
  const shown = [...targets].filter(([alias]) => patterns.some((pattern) => matchesPattern(alias, pattern)));
  return shown.flatMap(([alias, indices]) =>
    indices.map(({ index }) => {
      const { index_routing, search_routing, is_write_index } = aliasesOf(index, fields, twin)[alias] ?? {};
      return {
        alias,
        index,
        filter: "-",
        "routing.index": String(index_routing ?? "-"),
        "routing.search": String(search_routing ?? "-"),
        is_write_index: String(is_write_index ?? "-"),
      };
    }),
  );
}

export function catTemplates({ templates }: SearchTwin, call: Call): Promise<CatRow[]> {
  const pattern = call.segment("name") || "*";
  const shown = [...templates.index].filter(([name]) => matchesPattern(name, pattern));
  const listed = (names: Json | undefined) => `[${Array.isArray(names) ? names.join(", ") : ""}]`;
  return Promise.resolve(
    shown.map(([name, { index_patterns, priority, version, composed_of }]) => ({
      name,
      index_patterns: listed(index_patterns),
      order: String(priority ?? ""),
      version: String(version ?? ""),
      composed_of: listed(composed_of),
    })),
  );
}
