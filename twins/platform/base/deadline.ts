/**
 * Waiting with a limit. `AbortSignal.any` holds its sources weakly: after a garbage collection, a timeout among them
 * never fires (https://github.com/nodejs/node/issues/57736) and an abort can be lost
 * (https://github.com/nodejs/node/issues/65995). The timers and listeners here hold strong references instead.
 */

/** A time limit has passed. */
export class DeadlineExceeded extends Error {
  override name = "DeadlineExceeded";
}

/** A signal that follows several others. */
export interface LinkedSignal {
  /** Aborted when the first of the others is, with its reason. */
  readonly signal: AbortSignal;
  /** Stops following; leaves no listener behind. */
  unlink(): void;
}

export function linkSignals(...sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const follow = () => controller.abort(sources.find(({ aborted }) => aborted)?.reason);
  for (const source of sources) source.addEventListener("abort", follow, { once: true });
  if (sources.some(({ aborted }) => aborted)) follow();
  return {
    signal: controller.signal,
    unlink() {
      for (const source of sources) source.removeEventListener("abort", follow);
    },
  };
}

/**
 * Runs `work` with a signal that aborts with `parent` or at the time limit; then rejects, even if the work ignores the
 * signal. Leaves no timer and no listener behind.
 * @throws DeadlineExceeded when the time is up, the parent's reason, or what the work throws
 */
export async function withDeadline<T>(
  parent: AbortSignal,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent.throwIfAborted();
  const controller = new AbortController();
  let giveUp = (_reason: unknown) => {};
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = (reason) => {
      reject(reason);
      controller.abort(reason);
    };
  });
  const onParent = () => giveUp(parent.reason);
  const timer = setTimeout(() => giveUp(new DeadlineExceeded(`no answer within ${timeoutMs} ms`)), timeoutMs);
  parent.addEventListener("abort", onParent, { once: true });
  try {
    return await Promise.race([work(controller.signal), givenUp]);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener("abort", onParent);
  }
}

/**
 * Waits for work to end, at most `timeoutMs`. Late work is not cancelled; its outcome is ignored.
 * @throws DeadlineExceeded when the time is up, or what the work throws
 */
export function endWithin(timeoutMs: number, work: Promise<unknown>): Promise<unknown> {
  return withDeadline(new AbortController().signal, timeoutMs, () => work);
}
