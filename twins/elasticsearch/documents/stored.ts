/** Reads stored documents. */
import { jsonParameter, type Sql, sql } from "@offhook/log-store/sql";
import type { DocumentPlace, LogReader } from "@offhook/log-store/store/log-store";

export interface StoredDocument extends DocumentPlace {
  version: number;
  seqNo: number;
  source: string;
}

/** Reads documents in one statement. @returns by `placeKey`; missing documents have no entry */
export async function readDocuments(
  store: LogReader,
  places: readonly DocumentPlace[],
): Promise<Map<string, StoredDocument>> {
  const found = new Map<string, StoredDocument>();
  if (places.length === 0) return found;
  const { rows } = await store.query(sql`
    SELECT _index, _id, _version, _seq_no, _source FROM documents WHERE ${anyId(places.map(({ id }) => id))}`);
  for (const [index, id, version, seqNo, source] of rows) {
    const document = {
      index: String(index),
      id: String(id),
      version: Number(version),
      seqNo: Number(seqNo),
      source: String(source),
    };
    found.set(placeKey(document), document);
  }
  return found;
}

/** Binds many ids as one parameter. */
function anyId(ids: readonly string[]): Sql {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) return sql`_id = ${only}`;
  return sql`_id IN (SELECT unnest(json_extract_string(${jsonParameter(ids)}, '$[*]')))`;
}

/** A place as a map key. Index names contain no NUL. Lone surrogates become U+FFFD, as they do when stored. */
export function placeKey({ index, id }: DocumentPlace): string {
  return `${index}\0${id.toWellFormed()}`;
}
