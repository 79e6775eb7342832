/** Waiting for somebody else's work, but not for ever. */

/** How long a sandbox that ends waits for a reset that runs, and then for each of its twins to stop. */
export const STOP_LIMIT_MS = 10_000;

/** Waits until `work` is over, whether it succeeds or fails, and at most so long. Answers whether it is over. */
export async function isOverWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  const over = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([over, late]);
  } finally {
    clearTimeout(timer);
  }
}
