/** The end of a program on SIGINT, SIGTERM or SIGHUP: whatever hangs, it is over within a limit, and at once on a second one. */
import { performance } from "node:perf_hooks";
import { DeadlineExceeded, endWithin } from "../base/deadline.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Longest the end may take; `npm run dev` kills what takes longer than 8 s. */
const END_MS = 7500;

/** A terminal and the programs between it and this one (npm, tsx) both pass a signal on: so soon after, it is the same one. */
const SAME_SIGNAL_MS = 500;

/** Exits with status 0 when `end` has resolved; with 1 when it fails or is late, or when a second signal comes. */
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
