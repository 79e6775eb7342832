/** The agent's log: one pino logger, JSON lines on stdout, secrets masked. */
import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";
import { pause } from "./deadline.ts";

/** Members to mask in every line. Named one by one, because a pattern such as `*.token` costs ten times the line itself. */
const SECRET_MEMBERS = [
  "authorization",
  "headers.authorization",
  "apiKey",
  "voiceApiKey",
  "token",
  "secret",
  "toolSecret",
  "voiceToken",
  "ngrokAuthtoken",
  "databaseUrl",
  "websocketCallUrl",
];

/** Maximum buffer for a slow reader of stdout; further lines are lost. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

const MAX_FIRST_TIMES = 32;

/** How long a process that ends waits for a slow reader of stdout. */
const LAST_FLUSH_MS = 2_000;

/** Longest write of a process that shares stdout with others (PIPE_BUF): a pipe takes it whole, with no other's line inside. */
const MAX_SHARED_WRITE_BYTES = 4096;

export interface LogOptions {
  /** Which of several processes this is; goes with every line. */
  worker?: string;
  /** Further members of each line. */
  mixin?: LoggerOptions["mixin"];
}

/**
 * Creates the process's logger. It writes asynchronously, so that a slow reader of stdout does not delay audio.
 */
export function createLog(level: string, { worker, mixin }: LogOptions = {}): Logger {
  const shared = worker === undefined ? {} : { maxWrite: MAX_SHARED_WRITE_BYTES };
  return pino(
    {
      level,
      base: worker === undefined ? null : { worker },
      ...(mixin === undefined ? {} : { mixin }),
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_MEMBERS, censor: "[secret]" },
    },
    // With a least length of 0, flushing would not wait for the write that is under way.
    boundedAtExit({ dest: 1, sync: false, minLength: 1, maxLength: MAX_WAITING_BYTES, ...shared }),
  );
}

/**
 * A destination that gives up at exit when stdout takes nothing. pino flushes then, and tries for ever while stdout is
 * full.
 */
function boundedAtExit(options: Parameters<typeof pino.destination>[0] & object): DestinationStream {
  let triesUntil = Number.POSITIVE_INFINITY;
  const destination = pino.destination({ ...options, retryEAGAIN: () => performance.now() < triesUntil });
  const flushSync = destination.flushSync.bind(destination);
  destination.flushSync = () => {
    triesUntil = performance.now() + LAST_FLUSH_MS;
    try {
      flushSync();
    } catch {
      // Nobody is left to tell.
    }
  };
  return destination;
}

/**
 * Waits until all lines are written, but not for long. To be called before an exit: pino's own flush at exit tries for ever
 * when the reader of stdout is gone, unless an earlier write has told so.
 */
export async function flushLog(log: Logger): Promise<void> {
  const flushed = new Promise<void>((resolve) => log.flush(() => resolve()));
  const timeUp = new AbortController();
  await Promise.race([flushed, pause(LAST_FLUSH_MS, timeUp.signal)]);
  timeUp.abort();
}

/** A message on one line, at most `maxLength` characters, with the given secrets replaced by `mask`. */
export function safeText(
  text: string,
  secrets: readonly string[],
  maxLength = 300,
  mask = "[secret]",
): string {
  const masked = secrets
    .filter((secret) => secret.length > 0)
    .reduce((result, secret) => result.replaceAll(secret, mask), text);
  const line = masked.replace(/\s+/g, " ").trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map(messageOf).join("; ");
  }
  return error instanceof Error ? error.message : String(error);
}

/** Limits lines that a client could flood the log with: each is logged once. */
export class FirstTimes {
  readonly #seen = new Set<string>();

  /** Whether `what` is new; false for everything after 32 different values. */
  isFirst(what: string): boolean {
    if (this.#seen.has(what) || this.#seen.size >= MAX_FIRST_TIMES) return false;
    this.#seen.add(what);
    return true;
  }
}
