/** Reads documents out of a store. */
import { raw, type Sql, sql } from "../sql.ts";
import type { LogReader, QueryResult, StoredDocument } from "./log-store.ts";

/** A statement whose result `storedDocuments` converts. */
export function selectDocuments(predicate: Sql): Sql {
  return sql`SELECT _row, _id, _index, _version, _seq_no, _source FROM documents WHERE ${predicate} ORDER BY _row`;
}

export function storedDocuments({ rows }: QueryResult): StoredDocument[] {
  return rows.map(([row, id, index, version, seqNo, source]) => ({
    row: Number(row),
    id: String(id),
    index: String(index),
    version: Number(version),
    seqNo: Number(seqNo),
    source: String(source),
  }));
}

/** Bounds of one batch. */
const BATCH_DOCUMENTS = 2048;
const BATCH_BYTES = 8 << 20;

/** All documents in the order of writing, in batches. Nobody may write meanwhile. */
export async function* readDocuments(reader: LogReader): AsyncGenerator<StoredDocument[]> {
  const limit = raw(String(BATCH_DOCUMENTS));
  for (let last = -1; ; ) {
    const { rows } = await reader.query(
      sql`SELECT _row, strlen(_source) FROM documents WHERE _row > ${last} ORDER BY _row LIMIT ${limit}`,
    );
    if (rows.length === 0) return;
    let from = last;
    let bytes = 0;
    for (const [row, length] of rows) {
      bytes += Number(length);
      last = Number(row);
      if (bytes < BATCH_BYTES) continue;
      yield storedDocuments(await reader.query(selectDocuments(sql`_row > ${from} AND _row <= ${last}`)));
      from = last;
      bytes = 0;
    }
    if (from < last) {
      yield storedDocuments(await reader.query(selectDocuments(sql`_row > ${from} AND _row <= ${last}`)));
    }
  }
}
