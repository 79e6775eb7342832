/** When a pause ends the user's turn, by what was said before it (the assistant's `startSpeakingPlan`). */
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
 * How long after the end of speech the turn is over, in milliseconds: shortest after a finished sentence, longer after
 * a number (more digits may come), longest after anything else and as long as nothing was understood.
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
