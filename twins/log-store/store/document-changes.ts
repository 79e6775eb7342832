/** What is written and removed in one turn: decided by what is there, then stored. */
import type { IndexMapping } from "../fields.ts";
import { jsonParameter, raw, type Sql, sql } from "../sql.ts";
import {
  type ConditionalWrite,
  type DocumentOutcome,
  type DocumentPlace,
  type DocumentWrite,
  type Fitting,
  type LoadedDocument,
  type RemovedDocument,
  RepeatedDocuments,
  type StoreChange,
  type StoredDocument,
  UnfitDocuments,
  type UnfitValue,
  type WrittenDocument,
} from "./log-store.ts";
import { documentKey, planWrite, type WritePlan } from "./plan-write.ts";
import type { StoreFile } from "./store-file.ts";
import { selectDocuments, storedDocuments } from "./stored-documents.ts";

/** Documents of an index that are removed in one statement. */
const REMOVED_TOGETHER = 10_000;
/** How many removed documents are remembered, so that one written again goes on with its version. */
const MAX_REMOVED = 10_000;

type WithoutVersion<Change> = Change extends StoreChange ? Omit<Change, "stateVersion"> : never;
/** A change that has no number yet. */
export type NewChange = WithoutVersion<StoreChange>;

/** The store that is changed. */
export interface ChangedStore {
  fitting(): Fitting;
  /** As it is now. */
  file(): StoreFile;
  /** The one that can be written to. */
  ownFile(): Promise<StoreFile>;
  /** These are about to be stored. */
  writing(documents: WritePlan["documents"]): void;
  /** These were not. */
  refused(): void;
  /** Something has been stored. */
  changed(change: NewChange): void;
}

export class DocumentChanges {
  readonly #changed: ChangedStore;
  readonly #removed = new Map<string, number>();

  constructor(changed: ChangedStore) {
    this.#changed = changed;
  }

  /** @throws UnfitDocuments, and then nothing is stored */
  async write(documents: readonly DocumentWrite[]): Promise<WrittenDocument[]> {
    const plan = await this.#plan(documents);
    throwUnfit(plan.outcomes);
    await this.#store(plan);
    return plan.outcomes.filter((outcome) => outcome.outcome === "written");
  }

  async writeEach(documents: readonly ConditionalWrite[]): Promise<DocumentOutcome[]> {
    const plan = await this.#plan(documents);
    await this.#store(plan);
    return plan.outcomes;
  }

  async #plan(documents: readonly ConditionalWrite[]): Promise<WritePlan> {
    const { fields, nextRow, nextSeqNo } = this.#changed.file().catalog;
    const places = documents.flatMap(({ index, id }) => (id === undefined ? [] : [{ index, id }]));
    return planWrite(documents, {
      fields,
      fitting: this.#changed.fitting(),
      nextRow,
      nextSeqNo,
      documents: await this.#find(places),
      removedVersion: (key) => this.#removed.get(key),
    });
  }

  async #store(plan: WritePlan): Promise<void> {
    const { documents } = plan;
    if (documents.length === 0) return;
    this.#changed.writing(documents);
    try {
      const file = await this.#changed.ownFile();
      await file.write(plan);
    } catch (error) {
      this.#changed.refused();
      throw error;
    }
    this.#changed.changed({ change: "write", documents });
  }

  async remove(places: readonly DocumentPlace[]): Promise<(RemovedDocument | undefined)[]> {
    const there = await this.#find(places);
    const documents: StoredDocument[] = [];
    let { nextSeqNo } = this.#changed.file().catalog;
    const removed = places.map((place): RemovedDocument | undefined => {
      const key = documentKey(place);
      const document = there.get(key);
      if (!document) return undefined;
      // An id may be another index's too, and a place may be named twice.
      there.delete(key);
      documents.push(document);
      this.#remember(key, document.version + 1);
      return { version: document.version + 1, seqNo: nextSeqNo++ };
    });
    if (documents.length === 0) return removed;
    const file = await this.#changed.ownFile();
    await file.remove(
      documents.map(({ row }) => row),
      nextSeqNo,
    );
    this.#changed.changed({ change: "remove", documents });
    return removed;
  }

  /** @throws StoreFull */
  async defineIndex(index: string, mapping: IndexMapping): Promise<void> {
    const file = await this.#changed.ownFile();
    await file.define(index, mapping);
    this.#changed.changed({ change: "index", index });
  }

  async removeIndex(index: string): Promise<void> {
    const limit = raw(String(REMOVED_TOGETHER));
    const some = sql`${selectDocuments(sql`_index = ${index}`)} LIMIT ${limit}`;
    for (;;) {
      const documents = storedDocuments(await this.#changed.file().query(some));
      if (documents.length === 0) break;
      await this.remove(documents);
    }
    if (this.#changed.file().catalog.fields.indices.has(index)) {
      await (await this.#changed.ownFile()).drop(index);
    }
    for (const key of this.#removed.keys()) {
      if (key.startsWith(documentKey({ index, id: "" }))) this.#removed.delete(key);
    }
    this.#changed.refused();
    this.#changed.changed({ change: "index", index });
  }

  /** What was removed is forgotten: the store has other content. */
  forget(): void {
    this.#removed.clear();
  }

  /** What is in these places, by `documentKey`. */
  async #find(places: readonly DocumentPlace[]): Promise<Map<string, StoredDocument>> {
    const ids = places.map(({ id }) => id);
    if (ids.length === 0) return new Map();
    const found = storedDocuments(await this.#changed.file().query(selectDocuments(amongIds(ids))));
    return new Map(found.map((document) => [documentKey(document), document]));
  }

  #remember(key: string, version: number): void {
    this.#removed.delete(key);
    this.#removed.set(key, version);
    const [oldest] = this.#removed.keys();
    if (this.#removed.size > MAX_REMOVED && oldest !== undefined) this.#removed.delete(oldest);
  }
}

/** The documents of these ids. */
export function amongIds(ids: readonly string[]): Sql {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) return sql`_id = ${only}`;
  return sql`_id IN (SELECT unnest(from_json(${jsonParameter(ids)}, '["VARCHAR"]')))`;
}

/** What does not fit is listed up to so many places: a state may have millions of documents. */
const MAX_UNFIT = 1000;
const MAX_REPEATED = 100;

/**
 * Stores documents in a file that nobody sees yet, some at a time: it is all of them or nothing without a transaction.
 * @throws UnfitDocuments with all that do not fit, RepeatedDocuments
 */
export async function loadDocuments(
  file: StoreFile,
  documents: AsyncIterable<readonly LoadedDocument[]>,
  fitting: Fitting,
): Promise<void> {
  const unfit: UnfitValue[] = [];
  let from = 0;
  for await (const together of documents) {
    const state = { ...file.catalog, fitting, documents: new Map(), removedVersion: () => undefined };
    const plan = await planWrite(together, state);
    for (const value of unfitOf(plan.outcomes)) unfit.push({ ...value, document: value.document + from });
    if (unfit.length >= MAX_UNFIT) break;
    // All that comes after is looked at, too.
    if (unfit.length === 0) await file.write(plan);
    from += together.length;
  }
  if (unfit.length > 0) throw new UnfitDocuments(unfit);
  await file.flush();
  await refuseRepeated(file);
}

/** Rows of a new file are numbered from 0. @throws RepeatedDocuments */
async function refuseRepeated(file: StoreFile): Promise<void> {
  const place = raw("hash(_index, _id)");
  const { rows: repeated } = await file.query(
    sql`SELECT ${place} FROM documents GROUP BY 1 HAVING count(*) > 1 LIMIT ${raw(String(MAX_REPEATED))}`,
  );
  if (repeated.length === 0) return;
  const { rows } = await file.query(
    sql`SELECT _row, _id FROM (SELECT _row, _id, row_number() OVER (PARTITION BY _index, _id ORDER BY _row) AS number
        FROM documents WHERE ${place} IN (SELECT ${place} FROM documents GROUP BY 1 HAVING count(*) > 1))
      WHERE number > 1 ORDER BY _row LIMIT ${raw(String(MAX_REPEATED))}`,
  );
  if (rows.length === 0) return;
  throw new RepeatedDocuments(rows.map(([row, id]) => ({ document: Number(row), id: String(id) })));
}

/** @throws UnfitDocuments */
function throwUnfit(outcomes: readonly DocumentOutcome[]): void {
  const unfit = unfitOf(outcomes);
  if (unfit.length > 0) throw new UnfitDocuments(unfit);
}

/** What of the documents does not fit. */
export function unfitOf(outcomes: readonly DocumentOutcome[]): UnfitValue[] {
  return outcomes.flatMap((outcome, document) =>
    outcome.outcome === "unfit" ? [{ ...outcome.misfit, document }] : [],
  );
}
