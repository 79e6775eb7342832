/** Writes and removals inside an exclusive section: planned against the current documents, then stored. */
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

/** Documents of an index that one statement removes. */
const REMOVAL_BATCH = 10_000;
/** Removed documents whose versions are remembered: one that is written again continues from its version. */
const MAX_REMOVED = 10_000;

type WithoutVersion<Change> = Change extends StoreChange ? Omit<Change, "stateVersion"> : never;
/** A change that has no state version yet. */
export type NewChange = WithoutVersion<StoreChange>;

/** What the changes need of their store. */
export interface StoreAccess {
  fitting(): Fitting;
  /** The current file. */
  file(): StoreFile;
  /** The writable file. */
  ownFile(): Promise<StoreFile>;
  /** Called before documents are stored. */
  writing(documents: WritePlan["documents"]): void;
  /** Called when storing them failed. */
  refused(): void;
  /** Called after a change has been stored. */
  changed(change: NewChange): void;
}

export class DocumentChanges {
  readonly #store: StoreAccess;
  readonly #removed = new Map<string, number>();

  constructor(store: StoreAccess) {
    this.#store = store;
  }

  /** @throws UnfitDocuments, and then nothing is stored */
  async write(documents: readonly DocumentWrite[]): Promise<WrittenDocument[]> {
    const plan = await this.#plan(documents);
    throwUnfit(plan.outcomes);
    await this.#commit(plan);
    return plan.outcomes.filter((outcome) => outcome.outcome === "written");
  }

  async writeEach(documents: readonly ConditionalWrite[]): Promise<DocumentOutcome[]> {
    const plan = await this.#plan(documents);
    await this.#commit(plan);
    return plan.outcomes;
  }

  async #plan(documents: readonly ConditionalWrite[]): Promise<WritePlan> {
    const { fields, nextRow, nextSeqNo } = this.#store.file().catalog;
    const places = documents.flatMap(({ index, id }) => (id === undefined ? [] : [{ index, id }]));
    return planWrite(documents, {
      fields,
      fitting: this.#store.fitting(),
      nextRow,
      nextSeqNo,
      documents: await this.#find(places),
      removedVersion: (key) => this.#removed.get(key),
    });
  }

  async #commit(plan: WritePlan): Promise<void> {
    const { documents } = plan;
    if (documents.length === 0) return;
    this.#store.writing(documents);
    try {
      const file = await this.#store.ownFile();
      await file.write(plan);
    } catch (error) {
      this.#store.refused();
      throw error;
    }
    this.#store.changed({ change: "write", documents });
  }

  async remove(places: readonly DocumentPlace[]): Promise<(RemovedDocument | undefined)[]> {
    const there = await this.#find(places);
    const documents: StoredDocument[] = [];
    let { nextSeqNo } = this.#store.file().catalog;
    const removed = places.map((place): RemovedDocument | undefined => {
      const key = documentKey(place);
      const document = there.get(key);
      if (!document) return undefined;
      // A place that is named twice is removed once.
      there.delete(key);
      documents.push(document);
      this.#remember(key, document.version + 1);
      return { version: document.version + 1, seqNo: nextSeqNo++ };
    });
    if (documents.length === 0) return removed;
    const file = await this.#store.ownFile();
    await file.remove(
      documents.map(({ row }) => row),
      nextSeqNo,
    );
    this.#store.changed({ change: "remove", documents });
    return removed;
  }

  /** @throws StoreFull */
  async defineIndex(index: string, mapping: IndexMapping): Promise<void> {
    const file = await this.#store.ownFile();
    await file.define(index, mapping);
    this.#store.changed({ change: "index", index });
  }

  async removeIndex(index: string): Promise<void> {
    const limit = raw(String(REMOVAL_BATCH));
    const some = sql`${selectDocuments(sql`_index = ${index}`)} LIMIT ${limit}`;
    for (;;) {
      const documents = storedDocuments(await this.#store.file().query(some));
      if (documents.length === 0) break;
      await this.remove(documents);
    }
    if (this.#store.file().catalog.fields.indices.has(index)) {
      await (await this.#store.ownFile()).drop(index);
    }
    for (const key of this.#removed.keys()) {
      if (key.startsWith(documentKey({ index, id: "" }))) this.#removed.delete(key);
    }
    this.#store.refused();
    this.#store.changed({ change: "index", index });
  }

  /** Forgets the versions of removed documents: the store has other content. */
  forget(): void {
    this.#removed.clear();
  }

  /** The documents in these places, by `documentKey`; possibly others with the same ids. */
  async #find(places: readonly DocumentPlace[]): Promise<Map<string, StoredDocument>> {
    const ids = places.map(({ id }) => id);
    if (ids.length === 0) return new Map();
    const found = storedDocuments(await this.#store.file().query(selectDocuments(hasId(ids))));
    return new Map(found.map((document) => [documentKey(document), document]));
  }

  #remember(key: string, version: number): void {
    this.#removed.delete(key);
    this.#removed.set(key, version);
    const [oldest] = this.#removed.keys();
    if (this.#removed.size > MAX_REMOVED && oldest !== undefined) this.#removed.delete(oldest);
  }
}

/** A predicate: the documents with these ids. */
export function hasId(ids: readonly string[]): Sql {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) return sql`_id = ${only}`;
  return sql`_id IN (SELECT unnest(from_json(${jsonParameter(ids)}, '["VARCHAR"]')))`;
}

/** Bounds of the reported problems: a state may have millions of documents. */
const MAX_UNFIT = 1000;
const MAX_REPEATED = 100;

/**
 * Stores documents, batch by batch, in a file that nobody reads yet: so all or nothing needs no transaction.
 * @throws UnfitDocuments with all misfits up to a bound, RepeatedDocuments
 */
export async function loadDocuments(
  file: StoreFile,
  documents: AsyncIterable<readonly LoadedDocument[]>,
  fitting: Fitting,
): Promise<void> {
  const unfit: UnfitValue[] = [];
  let from = 0;
  for await (const batch of documents) {
    const state = { ...file.catalog, fitting, documents: new Map(), removedVersion: () => undefined };
    const plan = await planWrite(batch, state);
    for (const value of unfitOf(plan.outcomes)) unfit.push({ ...value, document: value.document + from });
    if (unfit.length >= MAX_UNFIT) break;
    // After a misfit the rest is only checked.
    if (unfit.length === 0) await file.write(plan);
    from += batch.length;
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

/** The misfits among outcomes. */
export function unfitOf(outcomes: readonly DocumentOutcome[]): UnfitValue[] {
  return outcomes.flatMap((outcome, document) =>
    outcome.outcome === "unfit" ? [{ ...outcome.misfit, document }] : [],
  );
}
