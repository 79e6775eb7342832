/** Waiting for a provider, but not forever. */

/** How long a provider may take for one answer, in wall time. */
export const PROVIDER_TIMEOUT_MS = 30_000;

/**
 * Runs `work` with a signal that fires when `parent` does or when the time is up; then rejects, whether or not the
 * work heeds the signal. Leaves no timer and no listener behind.
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
      controller.abort(reason);
      reject(reason);
    };
  });
  const onParent = () => giveUp(parent.reason);
  const timer = setTimeout(() => giveUp(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  parent.addEventListener("abort", onParent, { once: true });
  try {
    return await Promise.race([work(controller.signal), givenUp]);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener("abort", onParent);
  }
}
