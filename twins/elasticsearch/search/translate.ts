/** What a model makes of a request that no compiler knows. */
import {
  type Question,
  type RunStatement,
  TranslationFailed,
  type Translator,
} from "@offhook/log-store/translator/translator";
import { VendorError } from "../vendor/error.ts";
import type { SearchEngine } from "./context.ts";
import type { SearchNotes } from "./search-notes.ts";

export interface Asked<Result> {
  translator: Translator;
  question: Question;
  /** Runs a statement as the answer needs it. */
  run: RunStatement<Result>;
  /** What is answered when the model has nothing that runs. */
  refusal: VendorError;
}

/** Asks, and notes in the journal what came of it. @throws VendorError `refusal`; what the store throws when it cannot run any statement now */
export async function translate<Result>(
  { translator, question, run, refusal }: Asked<Result>,
  journal: SearchNotes,
): Promise<Result> {
  try {
    const { result, notes } = await translator.translate(question, run);
    journal.addTranslation(notes);
    return result;
  } catch (error) {
    if (!(error instanceof TranslationFailed)) throw error;
    // The journal has the database's words; the answer has the vendor's.
    journal.addTranslation({ failed: error.message });
    throw refusal;
  }
}

/** An error of the vendor's, which in `specification` says what becomes of it with a model. */
export function withModelHint(
  error: VendorError,
  { fidelity, translator }: Pick<SearchEngine, "fidelity" | "translator">,
): VendorError {
  if (fidelity === "vendor") return error;
  const hint = translator
    ? "the model has no SQL for it that runs: the notes in /sim/requests say why"
    : "a model can take over what is not recognised: configure [model] for this service in the environment file";
  const reason = error.message.replace(/\.$/, "");
  return new VendorError(error.status, { ...error.cause, reason: `${reason}; ${hint}` });
}
