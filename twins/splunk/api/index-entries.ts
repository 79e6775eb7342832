/** Entries of indexes: settings and contents. */
import { identifier, raw, sql } from "@offhook/log-store/sql";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { indexDefaults, indexFolders, shippedIndexes } from "../conf/index-defaults.ts";
import { castSettings } from "../conf/values.ts";
import type { Content, Entry } from "../output/entry.ts";
import { isoTime } from "../output/timestamp.ts";
import { maySearchIndex } from "../world/access.ts";
import { systemAcl } from "./acl.ts";
import type { Viewer } from "./call.ts";
import { segmentOf } from "./name-segment.ts";
import { rightsOf } from "./rights.ts";

interface IndexStatistics {
  count: number;
  bytes: number;
  minMs: number | undefined;
  maxMs: number | undefined;
}

const empty: IndexStatistics = { count: 0, bytes: 0, minMs: undefined, maxMs: undefined };

/** Statistics of each index with events. */
async function statisticsOf(store: LogStore): Promise<ReadonlyMap<string, IndexStatistics>> {
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

export async function indexEntries(viewer: Viewer): Promise<Entry[]> {
  const { twin } = viewer;
  const [names, statistics] = await Promise.all([twin.knowledge.indexes(), twin.store().then(statisticsOf)]);
  const { search, capabilities } = rightsOf(viewer);
  // An account that manages indexes sees all of them.
  const isShown = (name: string) => capabilities.has("indexes_edit") || maySearchIndex(search, name);
  const shown = [...new Set([...names, ...statistics.keys()])].filter(isShown).sort();
  return shown.map((name): Entry => {
    const content = indexContent(name, statistics.get(name) ?? empty, viewer);
    const change = content.disabled === true ? "enable" : "disable";
    const removable = !isShipped(name);
    return {
      name,
      path: `/servicesNS/nobody/system/data/indexes/${segmentOf(name)}`,
      author: "nobody",
      updatedMs: twin.startedMs,
      links: { list: "", _reload: "_reload", edit: "", ...(removable && { remove: "" }), [change]: change },
      acl: { ...systemAcl, removable },
      content,
    };
  });
}

/** Whether an index is one of the product's own, which cannot be removed. */
export function isShipped(name: string): boolean {
  return name.startsWith("_") || Object.hasOwn(indexFolders, name);
}

const HOME = "/opt/splunk/var/lib/splunk";

function indexContent(
  name: string,
  { count, bytes, minMs, maxMs }: IndexStatistics,
  { twin }: Viewer,
): Record<string, Content> {
  const row = twin.tables.table("indexes").get(name);
  const time = (ms = 0) => isoTime(ms, twin.timeZone);
  return {
    ...castSettings({ ...indexDefaults, ...shippedIndexes[name], ...pathsOf(name) }, row?.settings ?? {}),
    currentDBSizeMB: String(Math.max(1, Math.ceil(bytes / 1_048_576))),
    datatype: row?.datatype ?? "event",
    defaultDatabase: twin.index,
    disabled: row?.disabled ?? false,
    isInternal: name.startsWith("_"),
    isReady: true,
    isVirtual: false,
    lastInitSequenceNumber: 1,
    lastInitTime: Math.floor(twin.startedMs / 1000),
    maxTime: time(maxMs),
    minTime: time(minMs),
    totalEventCount: count,
  };
}

/** Paths of an index's files, which do not exist. */
function pathsOf(name: string): Record<string, string> {
  const folder = indexFolders[name] ?? name;
  const places = { homePath: "db", coldPath: "colddb", thawedPath: "thaweddb" };
  return {
    ...Object.fromEntries(
      Object.entries(places).flatMap(([key, last]) => [
        [key, `$SPLUNK_DB/${folder}/${last}`],
        [`${key}_expanded`, `${HOME}/${folder}/${last}`],
      ]),
    ),
    summaryHomePath_expanded: `${HOME}/${folder}/summary`,
    tstatsHomePath: `volume:_splunk_summaries/${folder}/datamodel_summary`,
    tstatsHomePath_expanded: `${HOME}/${folder}/datamodel_summary`,
  };
}
