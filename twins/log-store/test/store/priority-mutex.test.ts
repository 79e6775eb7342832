import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { PriorityMutex } from "../../store/priority-mutex.ts";

/** PriorityMutex, and the order in which works began. */
function mutex(patienceMs?: number) {
  const lock = new PriorityMutex(patienceMs);
  const begun: string[] = [];
  const work = (name: string) => async () => {
    begun.push(name);
    await setImmediate();
  };
  return {
    begun,
    asked: (name: string) => lock.run(work(name)),
    spare: (name: string) => lock.runInBackground(work(name)),
  };
}

test("foreground work goes before background work, each in its order", async () => {
  const { begun, asked, spare } = mutex(60_000);
  await Promise.all([asked("first"), spare("tidy"), spare("tidy more"), asked("second"), asked("third")]);
  expect(begun).toEqual(["first", "second", "third", "tidy", "tidy more"]);
});

test("foreground work requested when the previous has just ended goes before background work", async () => {
  const { begun, asked, spare } = mutex(60_000);
  const second = asked("first").then(() => asked("second"));
  await Promise.all([second, spare("tidy")]);
  expect(begun).toEqual(["first", "second", "tidy"]);
});

test("background work is not put off forever", async () => {
  const { begun, asked, spare } = mutex(0);
  await Promise.all([asked("first"), spare("tidy"), asked("second")]);
  expect(begun).toEqual(["first", "tidy", "second"]);
});

test("a failure is thrown to the caller, and the next work runs", async () => {
  const { begun, spare } = mutex();
  const lock = new PriorityMutex();
  const failing = lock.run(() => Promise.reject(new Error("the disk is full")));
  const next = lock.runInBackground(() => Promise.resolve("done"));
  await expect(failing).rejects.toThrow("the disk is full");
  expect(await next).toBe("done");
  await spare("tidy");
  expect(begun).toEqual(["tidy"]);
});
