/** What the platform hands a twin when it starts, for a test that starts one on its own. */
import { pino } from "pino";
import { liveClock } from "../base/clock.ts";
import { Faults } from "../faults/faults.ts";
import { Journal } from "../journal/journal.ts";
import { createMask } from "../journal/mask.ts";
import { NO_TELEMETRY } from "../telemetry/telemetry.ts";
import type { TwinContext } from "../twin/twin.ts";

/** A context whose sandbox holds nothing else; `given` replaces any part of it. */
export function twinContext(name: string, given: Partial<TwinContext> = {}): TwinContext {
  const sandbox = given.sandbox ?? "dev";
  const clock = given.clock ?? liveClock;
  const mask = createMask({});
  return {
    sandbox,
    name,
    url: `http://127.0.0.1:1/s/${sandbox}/${name}`,
    clock,
    journal: new Journal(mask, clock),
    mask,
    faults: new Faults(),
    view: { vendorRequests: () => [], spoken: () => [] },
    log: pino({ level: "silent" }),
    telemetry: NO_TELEMETRY,
    resolvePath: (path) => path,
    fileError: (_paths, reason) => (reason instanceof Error ? reason : new Error(String(reason))),
    variable: (name) => process.env[name],
    ...given,
  };
}
