/** What a write comes to, decided before anything is stored. */
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

/** The store's only primary term: it has never lost a primary. */
export const PRIMARY_TERM = 1;

/** What is known of the documents that a write names. */
export interface WriteState {
  fields: FieldCatalog;
  fitting: Fitting;
  nextRow: number;
  nextSeqNo: number;
  /** Those there are, by `documentKey`. */
  documents: ReadonlyMap<string, StoredDocument>;
  /** Version of a removed document's removal: one that is written again goes on from there. */
  removedVersion(key: string): number | undefined;
}

export interface WritePlan {
  outcomes: DocumentOutcome[];
  /** The fields that it adds and changes. */
  changes: Pick<DocumentFitter, "added" | "widened" | "texts">;
  /** What is to be stored. */
  documents: PlannedDocument[];
  /** What the next write begins with. */
  nextSeqNo: number;
}

export interface PlannedDocument extends FittedDocument {
  document: StoredDocument;
  replaced: StoredDocument | undefined;
}

/** No index has a NUL in its name. Halves of surrogate pairs are all one, as they are stored. */
export function documentKey({ index, id }: DocumentPlace): string {
  return `${index}\0${id.toWellFormed()}`;
}

/** Decides on one document after the other, in slices: nothing of the state may change meanwhile. */
export async function planWrite(
  documents: readonly (ConditionalWrite & LoadedDocument)[],
  state: WriteState,
): Promise<WritePlan> {
  const slices = new Slices();
  const fitter = new DocumentFitter(state.fields, state.fitting);
  /** By key; one whose id is made here by its row, for no other has it. */
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
    // Written twice, it is stored once, where it was written last.
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
