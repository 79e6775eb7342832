/** What a fault is: an effect, what it is for, and how often. The names are those of the control plane's JSON. */

/** Which requests a fault is for, within its operation. Everything named must hold. */
export interface FaultMatch {
  method?: string | undefined;
  /** Path below the twin's `url`; `*` stands for any text. */
  path?: string | undefined;
  /** Header values, by names in any case. */
  headers?: Record<string, string> | undefined;
  /** Members of a JSON body, by their path (`assistant.name`, `tools.0.type`). */
  json?: Record<string, unknown> | undefined;
}

/** What every fault may say. Either `operation` or `all` is there. */
interface FaultScope {
  /** Id of the one operation it is for. */
  operation?: string | undefined;
  /** It is for every operation it can be for. */
  all?: true | undefined;
  match?: FaultMatch | undefined;
  /** How many requests that match it lets pass first. Default 0. */
  after?: number | undefined;
  /** Of those that then match, how likely one is hit; drawn from `seed`, so that it repeats. Default 1. */
  probability?: number | undefined;
  seed?: number | undefined;
  /** How many requests it hits; default: all until it is removed. */
  times?: number | undefined;
  /** Waits so long before it takes effect. */
  delay_ms?: number | undefined;
  /** After how long it is removed by itself, in seconds of the machine; default: never. */
  ttl_seconds?: number | undefined;
}

/** When a connection is reset: nothing was done yet, all was done and nothing sent, or half of the body was sent. */
type ResetMoment = "request" | "response" | "body";

type RequestEffect =
  | { effect: "status"; status: number; retry_after?: number | undefined }
  | { effect: "reset"; at: ResetMoment }
  | { effect: "hang" }
  | { effect: "slow"; bytes_per_second?: number | undefined }
  | { effect: "truncate"; bytes?: number | undefined };

type SocketEffect =
  | { effect: "refuse_upgrade"; status: number; retry_after?: number | undefined }
  /** Without a code the connection ends without a close frame. */
  | { effect: "drop"; after_ms: number; code?: number | undefined }
  | { effect: "freeze"; after_ms: number };

export type RequestFault = FaultScope & RequestEffect;
export type SocketFault = FaultScope & SocketEffect;
export type Fault = RequestFault | SocketFault;

export const requestEffects = ["status", "reset", "hang", "slow", "truncate"] as const;
export const socketEffects = ["refuse_upgrade", "drop", "freeze"] as const;

export function isRequestFault(fault: Fault): fault is RequestFault {
  return requestEffects.some((effect) => effect === fault.effect);
}

export function isSocketFault(fault: Fault): fault is SocketFault {
  return !isRequestFault(fault);
}
