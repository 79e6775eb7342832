/** The agent's log: one pino logger, JSON lines on stdout, secrets masked. */
import { type Logger, pino } from "pino";

/**
 * Members that are masked should anybody log them. Named one by one: a pattern such as `*.token` costs ten times what
 * the line itself does.
 */
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

/** Lines that may wait for a slow reader of stdout; what is beyond is lost rather than kept in memory. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

const MAX_FIRST_TIMES = 32;

/** Makes the process's logger. It writes beside the event loop: a slow reader of stdout must not hold up any call's audio. */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_MEMBERS, censor: "[secret]" },
    },
    pino.destination({ dest: 1, sync: false, maxLength: MAX_WAITING_BYTES }),
  );
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

/** What went wrong, in words, whatever was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map(messageOf).join("; ");
  }
  return error instanceof Error ? error.message : String(error);
}

/** Remembers what was logged already, for lines that anybody could otherwise fill the log with. */
export class FirstTimes {
  readonly #seen = new Set<string>();

  /** Whether this is the first time; beyond 32 different things nothing is. */
  isFirst(what: string): boolean {
    if (this.#seen.has(what) || this.#seen.size >= MAX_FIRST_TIMES) return false;
    this.#seen.add(what);
    return true;
  }
}
