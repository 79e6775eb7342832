/** The scheduler on a clock that moves on while it is read. */
import type { MovingClock } from "@offhook/platform/base/clock";
import { twinContext } from "@offhook/platform/testing/twin-context";
import { expect, test } from "vitest";
import { logQueryConfig } from "../../config.ts";
import { startLogQueryTwin } from "../../start.ts";

const DUE_MS = Date.parse("2026-01-31T09:00:00Z");

/** A clock that is a millisecond further at each reading. */
class TickingClock implements MovingClock {
  ms = DUE_MS - 60_000;
  now = () => this.ms++;
  realMsUntil = (ms: number) => Math.max(0, ms - this.ms);
  watch = () => () => undefined;
}

test.each([2, 3, 4, 5])(
  "a time that comes between two readings of the clock is not missed: %i ms ahead of it",
  async (aheadMs) => {
    const clock = new TickingClock();
    const twin = await startLogQueryTwin(twinContext("splunk", { clock }), logQueryConfig.parse({}));
    const ended = new Promise<string>((resolve) => {
      twin.tables.watch(() => {
        const [run] = twin.tables.table("scheduled_runs").all();
        if (run !== undefined && run.status !== "running") resolve(`${run.status} ${run.scheduled_at}`);
      });
    });
    clock.ms = DUE_MS - aheadMs;
    twin.tables.table("saved_searches").insert({
      name: "hourly",
      search: "| makeresults",
      is_scheduled: true,
      cron_schedule: "0 * * * *",
    });
    expect(await ended).toBe("success 2026-01-31T09:00:00.000Z");
    await twin.stop();
  },
);
