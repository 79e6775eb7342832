/** What is written and removed in one turn: decided by what is there, then stored. */
import { type Sql, sql } from "../sql.ts";
import {
  type ConditionalWrite,
  type DocumentOutcome,
  type DocumentPlace,
  type DocumentWrite,
  type Fitting,
  type LoadedDocument,
  type RemovedDocument,
  type StoreChange,
  type StoredDocument,
  UnfitDocuments,
  type UnfitValue,
  type WrittenDocument,
} from "./log-store.ts";
import { documentKey, planWrite, type WritePlan } from "./plan-write.ts";
import type { StoreFile } from "./store-file.ts";
import { selectDocuments, storedDocuments } from "./stored-documents.ts";

/** Documents of a state that are loaded together. */
const LOADED_TOGETHER = 4096;
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
    const file = await this.#changed.ownFile();
    await file.write(plan);
    this.#changed.changed({ change: "write", documents });
  }

  async remove(places: readonly DocumentPlace[]): Promise<(RemovedDocument | undefined)[]> {
    const there = await this.#find(places);
    const documents = [...there.values()];
    let { nextSeqNo } = this.#changed.file().catalog;
    const removed = places.map((place): RemovedDocument | undefined => {
      const key = documentKey(place);
      const document = there.get(key);
      if (!document) return undefined;
      there.delete(key);
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
  return sql`_id IN (SELECT unnest(from_json(${JSON.stringify(ids)}, '["VARCHAR"]')))`;
}

/**
 * Stores documents in a file that nobody sees yet, some at a time: it is all of them or nothing without a transaction.
 * @throws UnfitDocuments with all that do not fit
 */
export async function loadDocuments(
  file: StoreFile,
  documents: readonly LoadedDocument[],
  fitting: Fitting,
): Promise<void> {
  for (let from = 0; from < documents.length; from += LOADED_TOGETHER) {
    const state = { ...file.catalog, fitting, documents: new Map(), removedVersion: () => undefined };
    const plan = await planWrite(documents.slice(from, from + LOADED_TOGETHER), state);
    if (unfitOf(plan.outcomes).length > 0) {
      // All that comes after is looked at, too.
      const { outcomes } = await planWrite(documents.slice(from), state);
      throw new UnfitDocuments(
        unfitOf(outcomes).map((value) => ({ ...value, document: value.document + from })),
      );
    }
    await file.write(plan);
  }
  await file.flush();
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
