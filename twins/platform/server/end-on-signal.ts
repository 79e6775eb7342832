/** Shutdown on SIGINT, SIGTERM or SIGHUP: within a time limit even if something hangs, and at once on a second signal. */
import { performance } from "node:perf_hooks";
import { DeadlineExceeded, endWithin } from "../base/deadline.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Time limit of the shutdown; below the 8 s after which `npm run dev` kills. */
const END_MS = 7500;

/** The terminal and the programs in between (npm, tsx) each deliver a signal; repeats within this time count as one. */
const SAME_SIGNAL_MS = 500;

/** Runs `end` on a signal. Exits with 0 when it resolves, with 1 when it fails, is late, or a second signal comes. */
export function endOnSignal(end: () => Promise<unknown>): void {
  let firstAtMs: number | undefined;
  const receive = (signal: NodeJS.Signals) => {
    if (firstAtMs === undefined) {
      firstAtMs = performance.now();
      endWithin(END_MS, end()).then(() => process.exit(0), fail);
    } else if (performance.now() - firstAtMs > SAME_SIGNAL_MS) {
      process.stderr.write(`${signal} again: ended without waiting\n`);
      process.exit(1);
    }
  };
  for (const signal of SIGNALS) process.on(signal, receive);
}

function fail(error: unknown): void {
  const late = error instanceof DeadlineExceeded;
  console.error(late ? `not everything ended within ${END_MS} ms; what is left ends now` : String(error));
  process.exit(1);
}
