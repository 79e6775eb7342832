/** A reset of a whole sandbox: every twin, or none. */

import { reasonOf } from "../base/reason.ts";
import { type HeldState, WorldUnavailable } from "../world/world.ts";
import type { HostedTwin, Sandbox } from "./sandbox.ts";

/** The outcome of a reset. */
export type ResetOutcome =
  | { kind: "reset" }
  /** Rolled back: the twins have their previous state again, except those in `lost`. */
  | { kind: "failed"; failures: TwinFailure[]; lost: TwinFailure[] };

interface TwinFailure {
  twin: string;
  reason: string;
  /** Whether the world's storage was unavailable, so that a retry may succeed. */
  unavailable: boolean;
}

interface Held {
  twin: HostedTwin;
  state: HeldState;
  stateVersion: number;
}

/** Resets all twins in parallel. When one fails, all are restored to the state held before. */
export async function resetSandbox(sandbox: Sandbox): Promise<ResetOutcome> {
  const twins = [...sandbox.twins];
  const holding = await eachTwin(twins, async ([name, twin]): Promise<[string, Held]> => {
    const { stateVersion } = twin.world;
    return [name, { twin, state: await twin.world.hold(sandbox.snapshotBytes), stateVersion }];
  });
  try {
    return await resetHeld(twins, holding);
  } finally {
    for (const [, { state }] of holding.done) await state.release();
  }
}

async function resetHeld(
  twins: readonly [string, HostedTwin][],
  holding: { done: [string, Held][]; failures: TwinFailure[] },
): Promise<ResetOutcome> {
  if (holding.failures.length > 0) return { kind: "failed", failures: holding.failures, lost: [] };
  const resetting = await eachTwin(twins, ([, twin]) => twin.reset());
  if (resetting.failures.length === 0) {
    for (const [, twin] of twins) twin.faults.removeAll();
    return { kind: "reset" };
  }
  // Also restores the twin that failed, unless it could not even begin: it may have changed part of its state.
  const untouched = new Set(
    resetting.failures.flatMap(({ twin, unavailable }) => (unavailable ? [twin] : [])),
  );
  const changed = holding.done.filter(
    ([name, { twin, stateVersion }]) => !untouched.has(name) || twin.world.stateVersion !== stateVersion,
  );
  const restoring = await eachTwin(changed, ([, { state }]) => state.restore());
  return { kind: "failed", failures: resetting.failures, lost: restoring.failures };
}

/** Runs the work for all twins in parallel, and waits for all of them even if one fails. */
async function eachTwin<Item, Result>(
  items: readonly [string, Item][],
  work: (item: [string, Item]) => Promise<Result>,
): Promise<{ done: Result[]; failures: TwinFailure[] }> {
  const done: Result[] = [];
  const failures: TwinFailure[] = [];
  const outcomes = await Promise.allSettled(items.map(async (item) => work(item)));
  outcomes.forEach((outcome, index) => {
    if (outcome.status === "fulfilled") done.push(outcome.value);
    else {
      const { reason } = outcome;
      const unavailable = reason instanceof WorldUnavailable;
      failures.push({ twin: items[index]?.[0] ?? "", reason: reasonOf(reason), unavailable });
    }
  });
  return { done, failures };
}
