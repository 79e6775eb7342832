/**
 * Waiting, but not forever. `AbortSignal.any` holds its sources weakly: when the garbage is collected, a timeout among
 * them never fires (https://github.com/nodejs/node/issues/57736) and an abort can be lost
 * (https://github.com/nodejs/node/issues/65995). Here timers and listeners hold what they are to abort.
 */

/** The time was up. */
export class DeadlineExceeded extends Error {
  override name = "DeadlineExceeded";
}

/**
 * Runs `work` with a signal that is aborted when `parent` is or when the time is up; then rejects, whether or not the
 * work heeds the signal. Leaves no timer and no listener behind.
 * @throws DeadlineExceeded when the time is up, the parent's reason, or what the work throws
 */
export async function withDeadline<Value>(
  parent: AbortSignal,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
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

/** Resolves after the time, or when the signal is aborted. */
export function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, durationMs);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
}
