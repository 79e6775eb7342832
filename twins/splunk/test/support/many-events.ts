/** A store of many events that DuckDB itself has made, which is quick. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { FieldCatalog } from "@offhook/log-store/fields";
import { sql } from "@offhook/log-store/sql";
import { read } from "@offhook/log-store/store/duckdb";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import { addFields, checkpoint, createTables, saveCatalog } from "@offhook/log-store/store/layout";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { BUILT_SEGMENTS, showSegments } from "@offhook/log-store/store/segment-tables";

export interface ManyEvents {
  readonly store: LogStore;
  close(): Promise<void>;
}

/**
 * Events of one second each, from 14 November 2023, 22:13:20, on: `n` from 0, `k` (`k0` … `k6`, every third event without), `u` that no
 * two have, and `text`, 512 characters that no two have either. The index of words is empty.
 */
export async function manyEvents(
  count: number,
  memoryBytes: number,
  beyondMemory: "fails" | "disk" = "fails",
): Promise<ManyEvents> {
  const folder = await mkdtemp(path.join(tmpdir(), "offhook-many-events-"));
  const baselineFile = path.join(folder, "baseline.duckdb");
  await writeManyEvents(baselineFile, count);
  const store = await openLogStore({
    ...{ folder: path.join(folder, "store"), baselineFile, index: "main", memoryBytes },
    ...{ textIndex: "raw", fitting: "free", beyondMemory },
  });
  return {
    store,
    async close() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Makes a store's file of such events. @param textParts 32 characters each, that `text` is made of */
export async function writeManyEvents(file: string, count: number, textParts = 16): Promise<void> {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  await createTables(connection, "raw");
  const fields = await addFields(connection, new FieldCatalog([], undefined, "raw"), [
    { name: "@timestamp", type: "date", multi: false },
    { name: "n", type: "long", multi: false },
    { name: "k", type: "text", multi: false },
    { name: "u", type: "text", multi: false },
    { name: "text", type: "text", multi: false },
  ]);
  await read(
    connection,
    sql`INSERT INTO documents
      SELECT n, 'e' || n, 'main', 1, n, to_json({'@timestamp': strftime(happened, '%Y-%m-%dT%H:%M:%S.000Z'), 'n': n, 'k': k, 'u': u, 'text': text}),
        happened, n, k, u, text
      FROM (SELECT range AS n, to_timestamp(1700000000 + range)::TIMESTAMP AS happened, 'u' || range AS u,
          CASE WHEN range % 3 > 0 THEN 'k' || range % 7 END AS k, repeat(md5(range::VARCHAR), ${BigInt(textParts)}) AS text
        FROM range(CAST(${count} AS BIGINT)))`,
  );
  await showSegments(connection, [BUILT_SEGMENTS], count);
  await saveCatalog(connection, { fields, nextRow: count, nextSeqNo: count });
  await checkpoint(connection);
  connection.closeSync();
  instance.closeSync();
}
