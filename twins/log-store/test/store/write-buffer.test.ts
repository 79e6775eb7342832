import { expect, test } from "vitest";
import { WriteBuffer } from "../../store/write-buffer.ts";

/** A buffer over a database that says when it is done. */
function slowDatabase() {
  const stored: number[][] = [];
  const begun: (() => void)[] = [];
  const pending: { resolve(): void; reject(error: Error): void }[] = [];
  const buffer = new WriteBuffer<number>(
    (rows) => {
      begun.shift()?.();
      return new Promise<void>((resolve, reject) => {
        pending.push({
          resolve: () => {
            stored.push([...rows]);
            resolve();
          },
          reject,
        });
      });
    },
    () => 1,
  );
  return {
    buffer,
    stored,
    /** The next time that rows are to be stored. */
    begins: () => new Promise<void>((resolve) => begun.push(resolve)),
    done: () => pending.shift()?.resolve(),
    fails: () => pending.shift()?.reject(new Error("the disk is full")),
  };
}

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);

test("a reader waits for all that was written before it, and for nothing when all of it is stored", async () => {
  const { buffer, stored, begins, done } = slowDatabase();
  const first = begins();
  buffer.add([1, 2]);
  const reading = buffer.flush();
  await first;
  // What comes while some are stored is stored together, after them.
  buffer.add([3]);
  buffer.add([4, 5]);
  const second = begins();
  const [later, another] = [buffer.flush(), buffer.flush()];
  expect(stored).toEqual([]);
  done();
  await reading;
  await second;
  expect(stored).toEqual([[1, 2]]);
  expect(buffer.isEmpty).toBe(false);
  done();
  await Promise.all([later, another]);
  expect(stored).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  expect(buffer.isEmpty).toBe(true);
  await buffer.flush();
});

test("without a read, rows are stored after a moment, or at once when there are enough", async () => {
  const { buffer, stored, begins, done } = slowDatabase();
  const first = begins();
  buffer.add([1]);
  await first;
  done();
  const second = begins();
  buffer.add(numbers(5000));
  await second;
  done();
  await buffer.flush();
  expect(stored).toEqual([[1], numbers(5000)]);
});

test("writers wait while too much waits, and go on as soon as it is being stored", async () => {
  const { buffer, stored, begins, done } = slowDatabase();
  const first = begins();
  buffer.add(numbers(5000));
  await first;
  const written = (async () => {
    for (let write = 0; write < 60; write++) {
      await buffer.waitForRoom();
      buffer.add(numbers(1000));
    }
    await buffer.flush();
  })();
  let ended = false;
  written.finally(() => {
    ended = true;
  });
  while (!ended) {
    const next = begins();
    done();
    await Promise.race([next, written]);
  }
  expect(stored.flat()).toHaveLength(65_000);
  const most = Math.max(...stored.slice(1).map(({ length }) => length));
  expect(most).toBeGreaterThan(1000);
  expect(most).toBeLessThan(18_000);
});

test("rows that could not be stored stay in order: the next read or waiting writer gets the error and retries", async () => {
  const { buffer, stored, begins, done, fails } = slowDatabase();
  const refused = (work: Promise<void>) => expect(work).rejects.toThrow("the disk is full");
  const first = begins();
  buffer.add(numbers(20_000));
  await first;
  const reading = refused(buffer.flush());
  buffer.add([20_000]);
  fails();
  await reading;
  const second = begins();
  const writing = refused(buffer.waitForRoom());
  await second;
  fails();
  await writing;
  const third = begins();
  const repaired = buffer.flush();
  await third;
  done();
  await repaired;
  expect(stored).toEqual([numbers(20_001)]);
});

test("closing waits for rows that are being stored, and drops the rest", async () => {
  const { buffer, stored, begins, done } = slowDatabase();
  const first = begins();
  buffer.add([1]);
  await first;
  buffer.add([2]);
  const closed = buffer.close();
  done();
  await closed;
  expect(stored).toEqual([[1]]);
  expect(buffer.isEmpty).toBe(true);
});
