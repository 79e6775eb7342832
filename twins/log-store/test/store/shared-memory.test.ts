/** Statements that share a memory: real promises stand in for statements, and DuckDB's own words for its error. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { OutOfMemory } from "../../store/log-store.ts";
import { SharedMemory } from "../../store/shared-memory.ts";

test("of concurrent work, all that fits succeeds, the rest fails, and aborted work blocks no other", async () => {
  const statement = fc.record({ bytes: fc.integer({ min: 1, max: 14 }), aborts: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(statement, { maxLength: 8 }), async (scheduler, statements) => {
      const limit = 10;
      const memory = new SharedMemory(limit);
      let used = 0;
      const work = async (bytes: number) => {
        await scheduler.schedule(Promise.resolve());
        if (used + bytes > limit) throw new Error("Out of Memory Error: could not allocate block");
        used += bytes;
        await scheduler.schedule(Promise.resolve());
        used -= bytes;
        return bytes;
      };
      const answers = statements.map(({ bytes, aborts }) => {
        const ending = new AbortController();
        if (aborts) void scheduler.schedule(Promise.resolve()).then(() => ending.abort("aborted"));
        return memory.run(() => work(bytes), ending.signal).catch((error: unknown) => error);
      });
      const settled = await scheduler.waitFor(Promise.all(answers));
      for (const [index, { bytes, aborts }] of statements.entries()) {
        if (aborts && settled[index] === "aborted") continue;
        expect(settled[index]).toEqual(bytes > limit ? new OutOfMemory(limit) : bytes);
      }
      // Nobody is left waiting.
      expect(await scheduler.waitFor(memory.run(() => work(1)))).toBe(1);
    }),
    { numRuns: 500 },
  );
});

test("another error than out of memory is not retried", async () => {
  const memory = new SharedMemory(10);
  let times = 0;
  const failing = async () => {
    times++;
    throw new Error("Binder Error: no such column");
  };
  const failed = await Promise.allSettled([memory.run(failing), memory.run(failing)]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(times).toBe(2);
});
