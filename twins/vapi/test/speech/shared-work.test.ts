import { describe, expect, test } from "vitest";
import { SharedWork } from "../../providers/shared-work.ts";

interface Run {
  request: string;
  signal: AbortSignal;
  finish(result: string): void;
  fail(error: Error): void;
}

const never = new AbortController().signal;

/** Work that ends when the test says so; a result takes a byte a character. */
function createWork(maxBytes: number): { work: SharedWork<string, string>; runs: Run[] } {
  const runs: Run[] = [];
  const work = new SharedWork<string, string>({
    key: (request) => request.toLowerCase(),
    run: (request, signal) =>
      new Promise((resolve, reject) => {
        runs.push({ request, signal, finish: resolve, fail: reject });
      }),
    sizeBytes: (result) => result.length,
    maxBytes,
  });
  return { work, runs };
}

async function done(work: SharedWork<string, string>, runs: Run[], request: string): Promise<void> {
  const result = work.get(request, never);
  runs.at(-1)?.finish(`${request}!`);
  await result;
}

describe("work that is shared", () => {
  test("runs once for concurrent requests, and is cached afterwards", async () => {
    const { work, runs } = createWork(100);
    const all = [work.get("A", never), work.get("a", never)];
    runs[0]?.finish("result");
    expect(await Promise.all(all)).toEqual(["result", "result"]);
    expect(await work.get("A", never)).toBe("result");
    expect(runs).toHaveLength(1);
  });

  test("is aborted when the last waiter leaves, not before; the next request starts afresh", async () => {
    const { work, runs } = createWork(100);
    const [first, second] = [new AbortController(), new AbortController()];
    const waits = Promise.allSettled([work.get("a", first.signal), work.get("a", second.signal)]);
    first.abort();
    await Promise.resolve();
    expect(runs[0]?.signal.aborted).toBe(false);
    second.abort();
    expect((await waits).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(runs[0]?.signal.aborted).toBe(true);
    const again = work.get("a", never);
    runs[0]?.finish("too late");
    runs[1]?.finish("fresh");
    expect(await again).toBe("fresh");
    expect(await work.get("a", never)).toBe("fresh");
  });

  test("that failed is not cached", async () => {
    const { work, runs } = createWork(100);
    const failed = work.get("a", never);
    runs[0]?.fail(new Error("no voice"));
    await expect(failed).rejects.toThrow("no voice");
    await done(work, runs, "a");
    expect(runs).toHaveLength(2);
  });

  test("evicts the least recently used result when full, and caches none larger than the whole", async () => {
    const { work, runs } = createWork(6);
    for (const request of ["a", "b", "c"]) await done(work, runs, request);
    await work.get("a", never);
    await done(work, runs, "d");
    expect(await Promise.all(["a", "c", "d"].map((request) => work.get(request, never)))).toEqual([
      "a!",
      "c!",
      "d!",
    ]);
    expect(runs).toHaveLength(4);
    await done(work, runs, "b");
    expect(runs).toHaveLength(5);
    await done(work, runs, "far too long");
    await done(work, runs, "far too long");
    expect(runs).toHaveLength(7);
  });
});
