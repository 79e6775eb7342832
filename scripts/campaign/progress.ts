/** How far a campaign is, printed while it runs. */
import type { Campaign } from "@offhook/campaign/records";
import type { CampaignStore, VerdictCounts } from "@offhook/campaign/store";
import type { Terminal } from "../shared/terminal.ts";

const LOOK_MS = 1_000;
/** Without a terminal a line says more than its place on the screen. */
const LINE_MS = 10_000;
/** The rate is that of the last calls, as far back as this. */
const RATE_WINDOW_MS = 60_000;
/** Counting a large campaign takes the server a moment; it may do so for a twentieth of the time. */
const IDLE_FACTOR = 20;

export interface ProgressOptions {
  store: CampaignStore;
  campaign: Campaign;
  terminal: Terminal;
  stream: NodeJS.WriteStream;
}

/** Prints progress until stopped. @returns stops, with a last line */
export function printProgress({ store, campaign, terminal, stream }: ProgressOptions): () => Promise<void> {
  const samples: { atMs: number; done: number }[] = [];
  let printedAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let looking = Promise.resolve();

  const look = async () => {
    const beganMs = performance.now();
    // While the database is away there is nothing to say.
    const counts = await store.countVerdicts(campaign.id).catch(() => undefined);
    const nowMs = performance.now();
    if (counts !== undefined) {
      samples.push({ atMs: nowMs, done: doneOf(counts) });
      while (samples.length > 2 && nowMs - (samples[0]?.atMs ?? nowMs) > RATE_WINDOW_MS) samples.shift();
      if (stream.isTTY || stopped || nowMs - printedAtMs > LINE_MS) {
        printedAtMs = nowMs;
        const text = describe(counts, campaign.expectedCalls, rateOf(samples));
        if (stream.isTTY) stream.write(`\r\u001b[2K${text}${stopped ? "\n" : ""}`);
        else terminal.line(text);
      }
    }
    return nowMs - beganMs;
  };
  const schedule = (tookMs: number) => {
    if (stopped) return;
    timer = setTimeout(
      () => {
        looking = look().then(schedule);
      },
      Math.max(LOOK_MS, IDLE_FACTOR * tookMs),
    );
  };
  looking = look().then(schedule);
  return async () => {
    clearTimeout(timer);
    await looking;
    clearTimeout(timer);
    stopped = true;
    await look();
  };
}

/** `12/100 calls, 11 passed, 1 failed, 0.8 calls/s, 1 min left` */
export function describe(
  counts: VerdictCounts,
  expected: number,
  callsPerSecond: number | undefined,
): string {
  const { passed, failed, error } = counts;
  const done = doneOf(counts);
  const parts = [`${done}/${expected} calls`, `${passed} passed`, `${failed} failed`];
  if (error > 0) parts.push(`${error} could not be judged`);
  if (callsPerSecond !== undefined && callsPerSecond > 0) {
    parts.push(`${callsPerSecond.toFixed(callsPerSecond < 10 ? 1 : 0)} calls/s`);
    if (done < expected) parts.push(`${formatTime((expected - done) / callsPerSecond)} left`);
  }
  return parts.join(", ");
}

function doneOf({ passed, failed, error }: VerdictCounts): number {
  return passed + failed + error;
}

function rateOf(samples: readonly { atMs: number; done: number }[]): number | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.atMs === first.atMs) return undefined;
  return ((last.done - first.done) / (last.atMs - first.atMs)) * 1_000;
}

function formatTime(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}
