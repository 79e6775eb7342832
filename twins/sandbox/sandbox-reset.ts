/** A reset of a whole sandbox: every twin, or none. */
import type { HostedTwin, Sandbox } from "./sandbox.ts";
import type { Tables } from "./world.ts";

/** What became of a reset. */
export type ResetOutcome =
  | { kind: "reset" }
  /** Nothing has changed: the twins that had been reset have their state back, except those of `lost`. */
  | { kind: "failed"; failures: TwinFailure[]; lost: TwinFailure[] };

export interface TwinFailure {
  twin: string;
  reason: string;
}

interface Saved {
  twin: HostedTwin;
  tables: Tables;
}

/** Resets all twins side by side. When one fails, all get back the state that was dumped before. */
export async function resetSandbox(sandbox: Sandbox): Promise<ResetOutcome> {
  const twins = [...sandbox.twins];
  const saving = await eachTwin(twins, async ([name, twin]): Promise<[string, Saved]> => {
    return [name, { twin, tables: await twin.world.dump() }];
  });
  if (saving.failures.length > 0) return { kind: "failed", failures: saving.failures, lost: [] };
  const resetting = await eachTwin(twins, ([, twin]) => twin.reset());
  if (resetting.failures.length === 0) {
    for (const [, twin] of twins) twin.faults.removeAll();
    return { kind: "reset" };
  }
  // The one that failed as well: how far it had come only it knows.
  const restoring = await eachTwin(saving.done, ([, { twin, tables }]) => twin.world.load(tables));
  return { kind: "failed", failures: resetting.failures, lost: restoring.failures };
}

/** Does the same for each at the same time, and waits for all of them whatever happens. */
async function eachTwin<Item, Result>(
  items: readonly [string, Item][],
  work: (item: [string, Item]) => Promise<Result>,
): Promise<{ done: Result[]; failures: TwinFailure[] }> {
  const done: Result[] = [];
  const failures: TwinFailure[] = [];
  const outcomes = await Promise.allSettled(items.map(async (item) => work(item)));
  outcomes.forEach((outcome, index) => {
    if (outcome.status === "fulfilled") done.push(outcome.value);
    else failures.push({ twin: items[index]?.[0] ?? "", reason: reasonOf(outcome.reason) });
  });
  return { done, failures };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
