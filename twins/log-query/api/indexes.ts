/** The indexes that events are in. */
import { identifier, raw, sql } from "../../datasets/sql.ts";
import type { LogStore } from "../../datasets/store/log-store.ts";
import type { Content, Entry } from "../output/entry.ts";
import { isoSecond } from "../output/timestamp.ts";
import { systemAcl } from "./acl.ts";
import type { Viewer } from "./call.ts";
import { type CollectionDeclaration, collectionRoutes } from "./collection.ts";

interface Figures {
  count: number;
  bytes: number;
  minMs: number | undefined;
  maxMs: number | undefined;
}

const empty: Figures = { count: 0, bytes: 0, minMs: undefined, maxMs: undefined };

/** What is in each index that has events. */
async function figuresOf(store: LogStore): Promise<ReadonlyMap<string, Figures>> {
  const { timeField } = store.fields;
  const time = timeField === undefined ? raw("NULL") : sql`${identifier(timeField.column)}`;
  const index = sql`_index`;
  const { rows } = await store.query(
    sql`SELECT ${index}, count(*), coalesce(sum(strlen(_source)), 0)::BIGINT, min(${time}), max(${time}) FROM documents GROUP BY 1`,
  );
  return new Map(
    rows.map(([name, count, bytes, minMs, maxMs]) => [
      String(name),
      {
        count: Number(count),
        bytes: Number(bytes),
        minMs: typeof minMs === "number" ? minMs : undefined,
        maxMs: typeof maxMs === "number" ? maxMs : undefined,
      },
    ]),
  );
}

async function indexEntries(viewer: Viewer): Promise<Entry[]> {
  const { twin } = viewer;
  const [names, figures] = await Promise.all([twin.knowledge.indexes(), twin.store().then(figuresOf)]);
  return [...new Set([...names, ...figures.keys()])].sort().map((name) => ({
    name,
    path: `/servicesNS/nobody/system/data/indexes/${encodeURIComponent(name)}`,
    author: "nobody",
    updatedMs: twin.startedMs,
    links: { list: "", _reload: "_reload", edit: "", disable: "disable" },
    acl: systemAcl,
    content: indexContent(name, figures.get(name) ?? empty, viewer),
  }));
}

function indexContent(
  name: string,
  { count, bytes, minMs, maxMs }: Figures,
  { twin }: Viewer,
): Record<string, Content> {
  const home = `$SPLUNK_DB/${name === "main" ? "defaultdb" : name}`;
  const time = (ms: number | undefined) => (ms === undefined ? "" : isoSecond(ms, twin.timeZone));
  return {
    archiver: {},
    assureUTF8: false,
    bucketMerging: false,
    coldPath: `${home}/colddb`,
    coldToFrozenDir: "",
    coldToFrozenScript: "",
    compressRawdata: true,
    currentDBSizeMB: String(Math.ceil(bytes / 1_048_576)),
    datatype: "event",
    defaultDatabase: twin.index,
    disabled: false,
    enableOnlineBucketRepair: true,
    enableRealtimeSearch: false,
    frozenTimePeriodInSecs: 188_697_600,
    homePath: `${home}/db`,
    indexThreads: "auto",
    isInternal: name.startsWith("_"),
    isReady: true,
    isVirtual: false,
    lastInitTime: Math.floor(twin.startedMs / 1000),
    maxDataSize: "auto",
    maxHotBuckets: "auto",
    maxTime: time(maxMs),
    maxTotalDataSizeMB: 500_000,
    minTime: time(minMs),
    repFactor: "0",
    sync: 0,
    thawedPath: `${home}/thaweddb`,
    totalEventCount: String(count),
  };
}

export const indexCollection: CollectionDeclaration = {
  id: "index",
  title: "indexes",
  path: "/data/indexes",
  what: "the indexes",
  links: { create: "_new", _reload: "_reload", _acl: "_acl" },
  parameters: ["datatype", "summarize"],
  entries: indexEntries,
};

export const indexOperations = collectionRoutes(indexCollection);
