/** Endpointing: how long a pause must last to end the user's turn (the assistant's `startSpeakingPlan`). */
import type { CallAssistant } from "./contract.ts";
import { wordsOf } from "./words.ts";

export type EndpointingPlan = CallAssistant["startSpeakingPlan"]["transcriptionEndpointingPlan"];

const SENTENCE_END = /[.!?…。！？]["'”’)\]]*$/u;

const NUMBER_WORDS = new Set(
  (
    "zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " +
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million " +
    "billion double triple"
  ).split(" "),
);

/**
 * The pause that ends the turn, in milliseconds: short after a complete sentence, longer after a number (more digits
 * may follow), longest after anything else and for speech that was not recognised.
 */
export function endpointDelayMs(text: string | null, plan: EndpointingPlan): number {
  if (text === null) return plan.onNoPunctuationSeconds * 1000;
  if (SENTENCE_END.test(text.trim())) return plan.onPunctuationSeconds * 1000;
  return (endsInNumber(text) ? plan.onNumberSeconds : plan.onNoPunctuationSeconds) * 1000;
}

function endsInNumber(text: string): boolean {
  const last = wordsOf(text).at(-1);
  return last !== undefined && (/\d$/.test(last) || NUMBER_WORDS.has(last));
}
