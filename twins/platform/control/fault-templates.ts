/** Faults ready to be armed, made of what a twin serves: its operations, sockets and connections, and its statuses. */
import { STATUS_CODES } from "node:http";
import type { Fault } from "../faults/fault.ts";
import type { AnyTwinDefinition } from "../twin/twin.ts";

export interface FaultTemplate {
  name: string;
  /** What the code under test sees, in one sentence. */
  description: string;
  /** The body of `POST /sim/faults`. */
  fault: Fault;
}

/** What a template is for: one operation, or all that the effect can be for. */
interface Target {
  scope: { operation: string } | { all: true };
  /** `call.create`, or `request`. */
  what: string;
}

const LATE_MS = 800;
const DROP_AFTER_MS = 2000;
const BYTES_PER_SECOND = 2000;
const RETRY_AFTER_SECONDS = 5;
/** Close code: the server met an unexpected condition. */
const INTERNAL_ERROR = 1011;

/** Without an operation: everything for all of them, and for each the two most wanted. With one: everything for it. */
export function faultTemplates(definition: AnyTwinDefinition, operation?: string): FaultTemplate[] {
  const { operations, sockets = [], connections = [], faultStatuses = [] } = definition;
  // A definition with connections serves nothing over HTTP.
  if (connections.length > 0) {
    return forEach(idsOf(connections), operation, connectionTemplates, firstConnectionTemplates);
  }
  const requestTemplates = (target: Target) => allRequestTemplates(target, faultStatuses);
  const firstTemplates = (target: Target) => firstRequestTemplates(target, faultStatuses);
  const socketTemplates = (target: Target) => allSocketTemplates(target, faultStatuses);
  return [
    ...forEach(idsOf(operations), operation, requestTemplates, firstTemplates),
    ...forEach(idsOf(sockets), operation, socketTemplates, (target) => [isDropped(target)]),
  ];
}

function forEach(
  ids: readonly string[],
  only: string | undefined,
  all: (target: Target) => FaultTemplate[],
  first: (target: Target) => FaultTemplate[],
): FaultTemplate[] {
  if (only !== undefined) return ids.includes(only) ? all(targetOf(only)) : [];
  if (ids.length === 0) return [];
  const [single] = ids;
  // What is said of all requests would be said of the one operation again.
  if (ids.length === 1 && single !== undefined) return all(targetOf(single));
  return [...all({ scope: { all: true }, what: "request" }), ...ids.flatMap((id) => first(targetOf(id)))];
}

function targetOf(operation: string): Target {
  return { scope: { operation }, what: operation };
}

function idsOf(operations: readonly { id: string }[]): string[] {
  return [...new Set(operations.map(({ id }) => id))];
}

function firstRequestTemplates(target: Target, statuses: readonly number[]): FaultTemplate[] {
  const status = failureOf(statuses);
  return [...(status === undefined ? [] : [answersOnce(target, status)]), comesLate(target)];
}

function allRequestTemplates(target: Target, statuses: readonly number[]): FaultTemplate[] {
  const { scope, what } = target;
  const failure = failureOf(statuses);
  return [
    ...statuses.map((status) => answersOnce(target, status)),
    ...(failure === undefined ? [] : [answersOften(target, failure)]),
    comesLate(target),
    {
      name: `${what}: slow body`,
      description: `The answer to each ${what} comes at ${BYTES_PER_SECOND} bytes a second.`,
      fault: { effect: "slow", ...scope, bytes_per_second: BYTES_PER_SECOND },
    },
    hangs(target),
    isReset(target),
    {
      name: `${what}: done, but reset`,
      description: `The next ${what} is carried out, and its connection is reset before anything is answered.`,
      fault: { effect: "reset", ...scope, at: "response", times: 1 },
    },
    {
      name: `${what}: reset halfway`,
      description: `The connection of the next ${what} is reset when half of the body was sent.`,
      fault: { effect: "reset", ...scope, at: "body", times: 1 },
    },
    {
      name: `${what}: truncated`,
      description: `The answer to the next ${what} announces its length and ends after half of it.`,
      fault: { effect: "truncate", ...scope, times: 1 },
    },
  ];
}

function allSocketTemplates({ scope, what: name }: Target, statuses: readonly number[]): FaultTemplate[] {
  const what = "all" in scope ? "WebSocket" : name;
  const failure = failureOf(statuses);
  const seconds = DROP_AFTER_MS / 1000;
  return [
    ...(failure === undefined
      ? []
      : [
          {
            name: `${what}: refused with ${failure}`,
            description: `The next ${what} is not opened but answered with ${wordStatus(failure)}.`,
            fault: { effect: "refuse_upgrade", ...scope, status: failure, times: 1 } as const,
          },
        ]),
    isDropped({ scope, what }),
    {
      name: `${what}: closed with ${INTERNAL_ERROR}`,
      description: `The next ${what} is closed with ${INTERNAL_ERROR} after ${seconds} s.`,
      fault: { effect: "drop", ...scope, after_ms: DROP_AFTER_MS, code: INTERNAL_ERROR, times: 1 },
    },
    {
      name: `${what}: frozen`,
      description: `Nothing passes on the next ${what} after ${seconds} s; it stays open until the fault is removed.`,
      fault: { effect: "freeze", ...scope, after_ms: DROP_AFTER_MS, times: 1 },
    },
    {
      name: `${what}: opened late`,
      description: `Each ${what} is opened ${LATE_MS} ms late, and cut ${seconds} s later.`,
      fault: { effect: "drop", ...scope, delay_ms: LATE_MS, after_ms: DROP_AFTER_MS },
    },
  ];
}

function isDropped({ scope, what }: Target): FaultTemplate {
  return {
    name: `${what}: dropped`,
    description: `The next ${what} is cut after ${DROP_AFTER_MS / 1000} s, without a close frame.`,
    fault: { effect: "drop", ...scope, after_ms: DROP_AFTER_MS, times: 1 },
  };
}

function connectionTemplates(target: Target): FaultTemplate[] {
  return [comesLate(target), hangs(target), isReset(target)];
}

function firstConnectionTemplates(target: Target): FaultTemplate[] {
  return [comesLate(target), isReset(target)];
}

function answersOnce({ scope, what }: Target, status: number): FaultTemplate {
  const retry = status === 429 || status === 503 ? { retry_after: RETRY_AFTER_SECONDS } : {};
  const after = "retry_after" in retry ? `, with Retry-After ${RETRY_AFTER_SECONDS}` : "";
  return {
    name: `${what}: ${status}`,
    description: `The next ${what} is answered with ${wordStatus(status)}${after}.`,
    fault: { effect: "status", ...scope, status, ...retry, times: 1 },
  };
}

function answersOften({ scope, what }: Target, status: number): FaultTemplate {
  return {
    name: `${what}: ${status} now and then`,
    description: `About one ${what} in five is answered with ${wordStatus(status)}, always the same ones.`,
    fault: { effect: "status", ...scope, status, probability: 0.2, seed: 1 },
  };
}

function comesLate({ scope, what }: Target): FaultTemplate {
  return {
    name: `${what}: late`,
    description: `Each ${what} is ${LATE_MS} ms late.`,
    fault: { effect: "slow", ...scope, delay_ms: LATE_MS },
  };
}

function hangs({ scope, what }: Target): FaultTemplate {
  return {
    name: `${what}: hangs`,
    description: `The next ${what} is not answered until the fault is removed.`,
    fault: { effect: "hang", ...scope, times: 1 },
  };
}

function isReset({ scope, what }: Target): FaultTemplate {
  return {
    name: `${what}: reset`,
    description: `The connection of the next ${what} is reset before anything is done.`,
    fault: { effect: "reset", ...scope, at: "request", times: 1 },
  };
}

/** The status that stands for a failure of the vendor: 503, 500, or the first there is. */
function failureOf(statuses: readonly number[]): number | undefined {
  return [503, 500].find((status) => statuses.includes(status)) ?? statuses[0];
}

function wordStatus(status: number): string {
  const reason = STATUS_CODES[status];
  return reason === undefined ? String(status) : `${status} ${reason}`;
}
