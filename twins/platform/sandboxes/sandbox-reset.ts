/** A reset of a whole sandbox: every twin, or none. */

import { reasonOf } from "../base/reason.ts";
import { Spool } from "../world/spool.ts";
import { loadState, writeState } from "../world/state-source.ts";
import { type StateSource, WorldUnavailable } from "../world/world.ts";
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

interface Saved {
  twin: HostedTwin;
  state: StateSource;
  stateVersion: number;
}

/** Resets all twins in parallel. When one fails, all are restored to the state dumped before. */
export async function resetSandbox(sandbox: Sandbox): Promise<ResetOutcome> {
  const twins = [...sandbox.twins];
  const spools: Spool[] = [];
  const saving = await eachTwin(twins, async ([name, twin]): Promise<[string, Saved]> => {
    const spool = new Spool(sandbox.snapshotBytes);
    spools.push(spool);
    const { state, stateVersion } = await writeState(twin.world, spool);
    return [name, { twin, state, stateVersion }];
  });
  try {
    return await resetSaved(twins, saving);
  } finally {
    for (const spool of spools) await spool.clear();
  }
}

async function resetSaved(
  twins: readonly [string, HostedTwin][],
  saving: { done: [string, Saved][]; failures: TwinFailure[] },
): Promise<ResetOutcome> {
  if (saving.failures.length > 0) return { kind: "failed", failures: saving.failures, lost: [] };
  const resetting = await eachTwin(twins, ([, twin]) => twin.reset());
  if (resetting.failures.length === 0) {
    for (const [, twin] of twins) twin.faults.removeAll();
    return { kind: "reset" };
  }
  // Also restores the twin that failed, unless it could not even begin: it may have changed part of its state.
  const untouched = new Set(
    resetting.failures.flatMap(({ twin, unavailable }) => (unavailable ? [twin] : [])),
  );
  const changed = saving.done.filter(
    ([name, { twin, stateVersion }]) => !untouched.has(name) || twin.world.stateVersion !== stateVersion,
  );
  const restoring = await eachTwin(changed, ([, { twin, state }]) => loadState(twin.world, state));
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
