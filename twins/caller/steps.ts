/** What a caller does in a call, step by step, once the names of samples have become audio. */
import type { Sample } from "@offhook/audio/sample-library";

/** Something said: a sample of the library. */
export type Utterance = Pick<Sample, "name" | "text" | "pcm">;

export type CallerStep =
  | {
      type: "say";
      utterance: Utterance;
      /** Hesitation before it is said, once it is the caller's turn. */
      afterMs: number;
      /** Do not wait for the end of the callee's turn: speak when this much of it has been heard. */
      interruptAfterMs?: number;
      /** Hang up in the middle, when this much of it has been said. */
      hangUpAfterMs?: number;
    }
  /** Says nothing for a while, whatever the callee does. */
  | { type: "stay-silent"; forMs: number }
  /** Says nothing any more: the callee has to end the call. */
  | { type: "await-hang-up" }
  | { type: "hang-up"; when: "at-once" | "after-reply" };

export interface CallerPlan {
  /** Begin only when the callee has spoken and its turn is over. */
  waitForCalleeFirst: boolean;
  /** When they are used up the caller waits for the reply to the last one and hangs up. */
  steps: readonly CallerStep[];
}

/** One line that says what a step is, for reports. */
export function describeStep(step: CallerStep): string {
  switch (step.type) {
    case "say":
      return `say "${step.utterance.text}"`;
    case "stay-silent":
      return `stay silent for ${step.forMs} ms`;
    case "await-hang-up":
      return "wait for the callee to hang up";
    case "hang-up":
      return step.when === "at-once" ? "hang up at once" : "hang up after the reply";
  }
}
