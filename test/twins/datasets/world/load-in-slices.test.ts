import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, test } from "vitest";
import { logEvents } from "../../../../scripts/samples/log-events.ts";
import { openLogStore } from "../../../../twins/datasets/store/duckdb-log-store.ts";
import { EventWorld } from "../../../../twins/datasets/world/event-world.ts";

const EVENTS = 10_000;
/** Of all the time that the event loop is at work: a machine with much else to do makes both longer. */
const LONGEST_HOLD = 0.15;

test("many events are loaded in slices, between which the event loop has its turn", async () => {
  const store = await openLogStore();
  const world = new EventWorld({ store: async () => store, opened: () => store, index: "logs" });
  const events = [...logEvents(EVENTS)].map((text, number) => ({ _id: `e${number}`, ...JSON.parse(text) }));
  const delay = monitorEventLoopDelay({ resolution: 5 });
  try {
    const before = performance.eventLoopUtilization();
    delay.enable();
    await world.load({ events });
    delay.disable();
    const { active } = performance.eventLoopUtilization(before);
    expect(await world.counts()).toMatchObject({ events: EVENTS });
    expect(delay.max / 1e6).toBeLessThan(active * LONGEST_HOLD);
  } finally {
    await store.close();
  }
}, 60_000);

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
