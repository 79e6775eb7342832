import { setImmediate } from "node:timers/promises";
import { processorMsSince } from "@offhook/platform/testing/processor-time";
import { expect, test } from "vitest";
import { logEvents } from "../../made-logs.ts";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import { EventWorld } from "../../world/event-world.ts";

const EVENTS = 10_000;
/** Of all the processor's time that the load takes. */
const LONGEST_HOLD = 0.15;

test("many events are loaded in slices that yield to the event loop", async () => {
  const store = await openLogStore();
  const world = new EventWorld({ store: async () => store, opened: () => store, index: "logs" });
  const events = [...logEvents(EVENTS)].map((text, number) => ({ _id: `e${number}`, ...JSON.parse(text) }));
  try {
    const start = process.cpuUsage();
    let loaded = false;
    const loading = world.load({ events }).finally(() => {
      loaded = true;
    });
    let longestMs = 0;
    for (let turn = start; !loaded; turn = process.cpuUsage()) {
      await setImmediate();
      longestMs = Math.max(longestMs, processorMsSince(turn));
    }
    await loading;
    const wholeMs = processorMsSince(start);
    expect(await world.counts()).toMatchObject({ events: EVENTS });
    expect(longestMs).toBeLessThan(wholeMs * LONGEST_HOLD);
  } finally {
    await store.close();
  }
});

test("every event that does not fit is named by its row, however many were loaded before it", async () => {
  const store = await openLogStore();
  const world = new EventWorld({ store: async () => store, opened: () => store, index: "logs" });
  try {
    await world.load({ events: [{ _id: "before", took: 1 }] });
    const events: Record<string, unknown>[] = Array.from({ length: 9000 }, (_, took) => ({ took }));
    events[5000] = { took: "soon", other: 1 };
    events[8999] = { other: "late" };
    const refusal = await world.load({ events }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ problems: [{ row: 5000, column: "took" }] });
    expect((await world.rows("events", { where: {}, limit: 10, offset: 0 })).total).toBe(1);
  } finally {
    await store.close();
  }
});
