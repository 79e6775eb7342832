import { afterEach, describe, expect, test } from "vitest";
import { WorkerPool, type WorkerPoolOptions } from "../../providers/threads/worker-pool.ts";

interface Doubled {
  doubled: number;
  threadId: number;
  data: unknown;
}

const never = new AbortController().signal;
const pools: WorkerPool<number, Doubled>[] = [];

function createPool(threads: number, options: Partial<WorkerPoolOptions> = {}): WorkerPool<number, Doubled> {
  const file = new URL("./fixtures/mortal-worker.ts", import.meta.url);
  const pool = new WorkerPool<number, Doubled>({ file, threads, maxWaiting: 10, data: "d", ...options });
  pools.push(pool);
  return pool;
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

describe("a pool of workers", () => {
  test("runs tasks in order on as many threads as it may start", async () => {
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => createPool(1).run(n, never)));
    expect(answers.map(({ doubled }) => doubled)).toEqual([2, 4, 6, 8, 10]);
    expect(answers[0]?.data).toBe("d");
    const pool = createPool(2);
    const several = await Promise.all([1, 2, 3, 4, 5].map((n) => pool.run(n, never)));
    expect(new Set(several.map(({ threadId }) => threadId)).size).toBe(2);
  });

  test("a task that fails fails alone", async () => {
    const pool = createPool(1);
    await expect(pool.run(-1, never)).rejects.toThrow("-1 is negative");
    expect((await pool.run(1, never)).doubled).toBe(2);
  });

  test("a thread that dies fails its task, and is replaced", async () => {
    const pool = createPool(1);
    const [dead, next] = [pool.run(0, never), pool.run(4, never)];
    await expect(dead).rejects.toThrow("ended with exit code 3");
    expect((await next).doubled).toBe(8);
  });

  test("a thread that exceeds its time limit is stopped and replaced", async () => {
    const pool = createPool(1, { maxTaskMs: 5_000 });
    await pool.run(1, never);
    const [endless, next] = [pool.run(Number.POSITIVE_INFINITY, never), pool.run(4, never)];
    await expect(endless).rejects.toThrow("took more than 5000 ms");
    expect((await next).doubled).toBe(8);
  });

  test("a worker that cannot start fails its tasks instead of keeping them waiting", async () => {
    const pool = createPool(1, { file: new URL("./fixtures/nobody.ts", import.meta.url) });
    await expect(pool.run(1, never)).rejects.toThrow("nobody.ts");
    await expect(pool.run(2, never)).rejects.toThrow("nobody.ts");
  });

  test("a task aborted in the queue never runs", async () => {
    const pool = createPool(1);
    const abort = new AbortController();
    const first = pool.run(1, never);
    const fatal = pool.run(0, abort.signal);
    abort.abort(new Error("not needed"));
    await expect(fatal).rejects.toThrow("not needed");
    const { threadId } = await first;
    expect((await pool.run(2, never)).threadId).toBe(threadId);
  });

  test("refuses tasks beyond its queue limit", async () => {
    const pool = createPool(1, { maxWaiting: 2 });
    const kept = [1, 2, 3].map((n) => pool.run(n, never));
    await expect(pool.run(4, never)).rejects.toThrow("2 tasks wait for 1 threads: too many");
    expect(await Promise.all(kept)).toHaveLength(3);
  });

  test("closing fails running and waiting tasks, and refuses new ones", async () => {
    const pool = createPool(1);
    const tasks = [pool.run(1, never), pool.run(2, never)];
    const settled = Promise.allSettled(tasks);
    await pool.close();
    expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(pool.run(3, never)).rejects.toThrow("shut down");
  });
});
