/** What a model makes of a request that no compiler knows. */
import type { Sql } from "../datasets/sql.ts";
import { type Question, TranslationFailed, type Translator } from "../datasets/translator/translator.ts";
import type { Call } from "./api/call.ts";
import { VendorError } from "./vendor-error.ts";

/** Asks, and notes in the journal what came of it. @throws VendorError when the model has no answer that may be run */
export async function translate(translator: Translator, call: Call, question: Question): Promise<Sql> {
  try {
    const { statement, notes } = await translator.translate(question);
    call.notes.translator = notes;
    return statement;
  } catch (error) {
    if (!(error instanceof TranslationFailed)) throw error;
    call.notes.translator = { failed: error.message };
    const reason = `the query is not recognised, and the translator has no answer: ${error.message}`;
    throw new VendorError(400, { type: "illegal_argument_exception", reason });
  }
}
