/** Asks a model to translate what no compiler recognises. */
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
  /** Runs the model's statement in the shape the answer needs. */
  run: RunStatement<Result>;
  /** The answer when no statement of the model runs. */
  refusal: VendorError;
}

/**
 * Asks the model, and notes the outcome in the journal. @throws VendorError `refusal`; errors of the store that no
 * other statement would avoid
 */
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
    // The journal gets the database's words, the client the vendor's.
    journal.addTranslation({ failed: error.message });
    throw refusal;
  }
}

/** In `specification`, adds to a vendor error how a model helps. */
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
