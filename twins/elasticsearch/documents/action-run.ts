/** Runs a list of write actions. Adjacent actions on different documents are stored together. */
import { randomBytes } from "node:crypto";
import type { IndexMapping } from "@offhook/log-store/fields";
import {
  type DocumentPlace,
  type DocumentWrite,
  type LogWriter,
  StoreFull,
  UnfitDocuments,
} from "@offhook/log-store/store/log-store";
import { noSuchIndex } from "../indices/errors.ts";
import { readExactJson } from "../json/read.ts";
import { compactJson } from "../json/write.ts";
import { VendorError } from "../vendor/error.ts";
import type { Action, IndexAction, Outcome, UpdateAction } from "./action.ts";
import { checkConditions } from "./conditions.ts";
import { documentMissing, indexBlocked, unfitDocument, unparsable, versionConflict } from "./errors.ts";
import { merge } from "./merge.ts";
import { placeKey, readDocuments, type StoredDocument } from "./stored.ts";

interface PendingWrite {
  position: number;
  document: DocumentWrite;
}

interface PendingRemoval {
  position: number;
  place: DocumentPlace;
}

/** How new indices are created. */
export interface IndexRules {
  /** The service's own index, which always exists. */
  readonly index: string;
  /** The mapping of an index that a write creates; absent: the dataset's mapping. */
  mappingOfNew?(index: string): IndexMapping;
}

export class ActionRun {
  readonly #store: LogWriter;
  readonly #rules: IndexRules;
  readonly #actions: readonly Action[];
  readonly #outcomes: (Outcome | undefined)[];
  #known = new Map<string, StoredDocument>();
  /** Keys of documents with pending changes. */
  readonly #touched = new Set<string>();
  #writes: PendingWrite[] = [];
  #removals: PendingRemoval[] = [];

  constructor(store: LogWriter, actions: readonly Action[], rules: IndexRules) {
    this.#store = store;
    this.#rules = rules;
    this.#actions = actions;
    this.#outcomes = actions.map(() => undefined);
  }

  async run(): Promise<Outcome[]> {
    const there = await this.#makeIndices();
    this.#known = await readDocuments(this.#store, placesOf(this.#actions));
    for (const [position, action] of this.#actions.entries()) {
      const key = action.id === undefined ? undefined : placeKey({ index: action.index, id: action.id });
      if (key !== undefined && this.#touched.has(key)) await this.#flush();
      try {
        if (!there.has(action.index)) throw noSuchIndex(action.index);
        this.#plan(position, action, key === undefined ? undefined : this.#known.get(key));
      } catch (error) {
        if (!(error instanceof VendorError)) throw error;
        this.#outcomes[position] = { index: action.index, id: action.id, error };
      }
      if (key !== undefined) this.#touched.add(key);
    }
    await this.#flush();
    return this.#outcomes.filter((outcome) => outcome !== undefined);
  }

  /** Creates missing indices, even if the documents turn out not to fit. @returns all existing indices */
  async #makeIndices(): Promise<ReadonlySet<string>> {
    const there = new Set([
      this.#rules.index,
      ...this.#store.fields.indices.keys(),
      ...(await this.#store.indexes()),
    ]);
    for (const { kind, index } of this.#actions) {
      if (kind === "delete" || there.has(index)) continue;
      there.add(index);
      const mapping = this.#rules.mappingOfNew?.(index);
      if (mapping) await this.#store.defineIndex(index, mapping);
    }
    return there;
  }

  #plan(position: number, action: Action, old: StoredDocument | undefined): void {
    switch (action.kind) {
      case "delete": {
        const { index, id, conditions } = action;
        checkConditions({ index, id }, conditions, old);
        if (old) this.#removals.push({ position, place: { index, id } });
        else this.#outcomes[position] = { index, id, version: 1, seqNo: 0, result: "not_found" };
        return;
      }
      case "update":
        this.#planUpdate(position, action, old);
        return;
      default:
        this.#planIndex(position, action, old);
    }
  }

  #planIndex(position: number, action: IndexAction, old: StoredDocument | undefined): void {
    const { index, conditions, source } = action;
    const { id = makeId() } = action;
    if (action.kind === "create" && old) {
      throw versionConflict(index, id, `document already exists (current version [${old.version}])`);
    }
    checkConditions({ index, id }, conditions, old);
    const version = conditions.versionType === "internal" ? undefined : conditions.version;
    // Without an id the store generates a new one, and need not look for an old document.
    const named = action.id === undefined ? {} : { id };
    const document = { index, ...named, source, ...(version === undefined ? {} : { version }) };
    this.#writes.push({ position, document });
  }

  #planUpdate(position: number, action: UpdateAction, old: StoredDocument | undefined): void {
    const { index, id, conditions, doc, upsert, detectNoop } = action;
    if (!old) {
      if (!upsert || conditions.ifSeqNo !== undefined) throw documentMissing(index, id);
      this.#writes.push({ position, document: { index, id, source: compactJson(upsert) } });
      return;
    }
    checkConditions({ index, id }, conditions, old);
    const { version, seqNo, source } = old;
    const whole = readExactJson(source);
    if (!(whole instanceof Map)) throw unparsable("the document is not an object");
    const merged = doc ? merge(whole, doc) : { document: whole, changed: false };
    if (!merged.changed && detectNoop) {
      this.#outcomes[position] = { index, id, version, seqNo, result: "noop", source };
      return;
    }
    this.#writes.push({ position, document: { index, id, source: compactJson(merged.document) } });
  }

  async #flush(): Promise<void> {
    await this.#remove();
    await this.#write();
    this.#touched.clear();
  }

  async #remove(): Promise<void> {
    const removals = this.#removals;
    this.#removals = [];
    if (removals.length === 0) return;
    const removed = await this.#unlessFull(removals, () =>
      this.#store.remove(removals.map(({ place }) => place)),
    );
    if (removed === undefined) return;
    removals.forEach(({ position, place }, number) => {
      const { version, seqNo } = removed[number] ?? { version: 1, seqNo: 0 };
      this.#outcomes[position] = { ...place, version, seqNo, result: "deleted" };
      this.#known.delete(placeKey(place));
    });
  }

  async #write(): Promise<void> {
    let writes = this.#writes;
    this.#writes = [];
    while (writes.length > 0) {
      try {
        const written = await this.#unlessFull(
          writes.map(({ position, document }) => ({ position, place: document })),
          () => this.#store.write(writes.map(({ document }) => document)),
        );
        if (written === undefined) return;
        writes.forEach(({ position, document }, number) => {
          const result = written[number];
          if (!result) return;
          const stored = { ...result, source: document.source };
          this.#outcomes[position] = stored;
          this.#known.set(placeKey(result), stored);
        });
        return;
      } catch (error) {
        if (!(error instanceof UnfitDocuments)) throw error;
        writes = this.#withoutUnfit(writes, error);
      }
    }
  }

  /** Runs a change of the pending documents. When the store is full, none is changed and all fail. */
  async #unlessFull<Result>(
    pending: readonly { position: number; place: Partial<DocumentPlace> & { index: string } }[],
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreFull)) throw error;
      for (const { position, place } of pending) {
        const { index, id = makeId() } = place;
        this.#outcomes[position] = { index, id, error: indexBlocked(index) };
      }
      return undefined;
    }
  }

  /** Fails the writes with unfit values. @returns the remaining writes */
  #withoutUnfit(writes: readonly PendingWrite[], { values }: UnfitDocuments): PendingWrite[] {
    const failed = new Set<number>();
    for (const value of values) {
      const write = writes[value.document];
      if (!write || failed.has(value.document)) continue;
      const { index, id = makeId() } = write.document;
      failed.add(value.document);
      this.#outcomes[write.position] = { index, id, error: unfitDocument(value, id) };
    }
    if (failed.size === 0) throw new Error("the store refused documents without naming any");
    return writes.filter((_, number) => !failed.has(number));
  }
}

function placesOf(actions: readonly Action[]): DocumentPlace[] {
  return actions.flatMap(({ index, id }) => (id === undefined ? [] : [{ index, id }]));
}

/** 20 URL-safe characters, like the vendor's. */
function makeId(): string {
  return randomBytes(15).toString("base64url");
}
