/** How a call can end, and what each end means for the caller. */
import type { ReachedLimit } from "./call-limits.ts";
import type { CallerDeparture } from "./caller-channel.ts";

export type Ending =
  | { kind: "caller-hung-up" }
  | { kind: "caller-vanished"; reason: string }
  | { kind: "caller-violation"; closeCode: number; reason: string }
  | { kind: "setup-failed"; reason: string }
  | { kind: "runtime-ended"; reason: string }
  | { kind: "runtime-failed"; reason: string }
  | { kind: "limit-reached"; reason: string; outcome: ReachedLimit["outcome"] }
  | { kind: "shut-down" };

/** Label of the metric `offhook_calls_total`. */
export type Outcome =
  | "completed"
  | "callee_no_answer"
  | "runtime_failed"
  | "caller_vanished"
  | "protocol_violation"
  | ReachedLimit["outcome"]
  | "shut_down";

/** Close reason for a caller whose call could not be set up. */
const NO_ANSWER = "callee_no_answer";

export function endingOfDeparture(departure: CallerDeparture): Ending {
  switch (departure.kind) {
    case "hung-up":
      return { kind: "caller-hung-up" };
    case "vanished":
      return { kind: "caller-vanished", reason: departure.reason };
    case "violation":
      return { kind: "caller-violation", closeCode: departure.closeCode, reason: departure.reason };
  }
}

export function outcomeOf(ending: Ending): Outcome {
  switch (ending.kind) {
    case "caller-hung-up":
    case "runtime-ended":
      return "completed";
    case "setup-failed":
      return NO_ANSWER;
    case "runtime-failed":
      return "runtime_failed";
    case "caller-vanished":
      return "caller_vanished";
    case "caller-violation":
      return "protocol_violation";
    case "limit-reached":
      return ending.outcome;
    case "shut-down":
      return "shut_down";
  }
}

/** Code and reason of the close frame the caller gets. */
export function callerClose(ending: Ending): { code: number; reason: string } {
  switch (ending.kind) {
    case "caller-hung-up":
    case "caller-vanished":
      return { code: 1000, reason: "" };
    case "runtime-ended":
    case "limit-reached":
      return { code: 1000, reason: ending.reason };
    case "setup-failed":
      return { code: 1011, reason: NO_ANSWER };
    case "runtime-failed":
      return { code: 1011, reason: `the voice runtime failed: ${ending.reason}` };
    case "caller-violation":
      return { code: ending.closeCode, reason: ending.reason };
    case "shut-down":
      return { code: 1001, reason: "the agent is shutting down" };
  }
}
