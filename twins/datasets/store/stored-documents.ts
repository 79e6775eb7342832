/** Documents as they are read out of a store. */
import { type Sql, sql } from "../sql.ts";
import type { QueryResult, StoredDocument } from "./log-store.ts";

/** A statement that answers `storedDocuments`. */
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
