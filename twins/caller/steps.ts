/** The steps of a caller, with sample names resolved to audio. */
import type { Sample } from "@offhook/audio/sample-library";

/** A sample that the caller says. */
type Utterance = Pick<Sample, "name" | "text" | "pcm">;

export type CallerStep =
  | {
      type: "say";
      utterance: Utterance;
      /** Hesitation once it is the caller's turn. */
      afterMs: number;
      /** Interrupt the callee's turn after this much of it. */
      interruptAfterMs?: number;
      /** Hang up in the middle of the utterance, after this much of it. */
      hangUpAfterMs?: number;
    }
  /** Says nothing for a while, whatever the callee does. */
  | { type: "stay-silent"; forMs: number }
  /** Stays silent until the callee ends the call. */
  | { type: "await-hang-up" }
  | { type: "hang-up"; when: "at-once" | "after-reply" };

export interface CallerPlan {
  /** Start only after the callee's first turn. */
  waitForCalleeFirst: boolean;
  /** After the last one the caller waits for the reply and hangs up. */
  steps: readonly CallerStep[];
}

/** Describes a step in one line, for reports. */
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
