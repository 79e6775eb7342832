/** Plans a write: the outcome for each document, and what to store. Writes nothing. */
import type { FieldCatalog } from "../fields.ts";
import { Slices } from "../slices.ts";
import { DocumentFitter } from "./document-fitter.ts";
import type { FittedDocument } from "./fitted-document.ts";
import { generatedId } from "./generated-id.ts";
import { wellFormedJson } from "./json-leaves.ts";
import type {
  ConditionalWrite,
  DocumentOutcome,
  DocumentPlace,
  Fitting,
  LoadedDocument,
  StoredDocument,
  WriteCondition,
} from "./log-store.ts";

/** The store's only primary term: it never loses its primary. */
const PRIMARY_TERM = 1;

/** The state that a write is planned against. */
export interface WriteState {
  fields: FieldCatalog;
  fitting: Fitting;
  nextRow: number;
  nextSeqNo: number;
  /** The existing documents among those that the write names, by `documentKey`. */
  documents: ReadonlyMap<string, StoredDocument>;
  /** Version of a document's removal: a new document in its place continues from it. */
  removedVersion(key: string): number | undefined;
}

export interface WritePlan {
  outcomes: DocumentOutcome[];
  /** Added and changed fields. */
  changes: Pick<DocumentFitter, "added" | "widened" | "texts">;
  /** Documents to store. */
  documents: PlannedDocument[];
  /** Of the next write. */
  nextSeqNo: number;
}

export interface PlannedDocument extends FittedDocument {
  document: StoredDocument;
  replaced: StoredDocument | undefined;
}

/** Unique: no index has a NUL in its name. Lone surrogates become U+FFFD, as in the stored id. */
export function documentKey({ index, id }: DocumentPlace): string {
  return `${index}\0${id.toWellFormed()}`;
}

/** Plans document by document, yielding to the event loop in between. The state must not change meanwhile. */
export async function planWrite(
  documents: readonly (ConditionalWrite & LoadedDocument)[],
  state: WriteState,
): Promise<WritePlan> {
  const slices = new Slices();
  const fitter = new DocumentFitter(state.fields, state.fitting);
  /** By key; a document whose id is generated here by its row, since no other can have that id. */
  const planned = new Map<string | number, PlannedDocument>();
  let seqNo = state.nextSeqNo;
  let row = state.nextRow;
  const plan = (write: ConditionalWrite & LoadedDocument): DocumentOutcome => {
    const { index, source } = write;
    const fitted = fitter.fit(write);
    if (!("fields" in fitted)) return { outcome: "unfit", id: write.id, index, misfit: fitted };
    const id = write.id ?? generatedId(seqNo, row);
    const key = write.id === undefined ? row : documentKey({ index, id });
    const there = typeof key === "number" ? undefined : state.documents.get(key);
    const current = planned.get(key)?.document ?? there;
    const removedVersion = typeof key === "number" ? undefined : state.removedVersion(key);
    const reason = conflictOf(write, current);
    if (reason) return { outcome: "conflict", id, index, reason, current: current && pick(current) };
    // A document that is written twice is stored once, at its last position.
    planned.delete(key);
    const version = write.version ?? (current?.version ?? removedVersion ?? 0) + 1;
    const stored = { id: id.toWellFormed(), source: wellFormedJson(source) };
    const document = { row: row++, index, version, seqNo: write.seqNo ?? seqNo, ...stored };
    seqNo = Math.max(seqNo, document.seqNo + 1);
    fitter.accept(index, fitted);
    planned.set(key, { document, replaced: there, fields: fitted.fields, values: fitted.values });
    const result = current ? "updated" : "created";
    return { outcome: "written", id, index, version, seqNo: document.seqNo, result };
  };
  const outcomes: DocumentOutcome[] = [];
  for (const write of documents) {
    outcomes.push(plan(write));
    if (slices.over) await slices.next();
  }
  return { outcomes, changes: fitter, documents: [...planned.values()], nextSeqNo: seqNo };
}

function conflictOf(
  { op = "index", condition }: Pick<ConditionalWrite, "op" | "condition">,
  current: StoredDocument | undefined,
): "exists" | "changed" | undefined {
  if (op === "create" && current) return "exists";
  return condition && !holds(condition, current) ? "changed" : undefined;
}

/** Whether the document is as the writer last saw it. */
function holds(condition: WriteCondition, current: StoredDocument | undefined): boolean {
  return current?.seqNo === condition.seqNo && condition.primaryTerm === PRIMARY_TERM;
}

function pick({ version, seqNo }: StoredDocument): { version: number; seqNo: number } {
  return { version, seqNo };
}
