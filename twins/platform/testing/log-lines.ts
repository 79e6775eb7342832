/** A logger whose lines a test can read and wait for. */
import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import { Watched } from "./watched.ts";

interface LogLine {
  level: number;
  msg: string;
  [member: string]: unknown;
}

export interface CapturedLog {
  log: Logger;
  lines: LogLine[];
  /** Everything logged, as text, to be searched for secrets. */
  text(): string;
  /** Waits for the first matching line, if it is not there yet. */
  line(fits: (line: LogLine) => boolean, what: string): Promise<LogLine>;
}

export function captureLog(): CapturedLog {
  const lines: LogLine[] = [];
  const watched = new Watched();
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()));
      watched.changed();
      done();
    },
  });
  return {
    log: pino({ level: "trace" }, stream),
    lines,
    text: () => lines.map((line) => JSON.stringify(line)).join("\n"),
    async line(fits, what) {
      await watched.until(() => lines.some(fits), `a log line: ${what}`);
      const found = lines.find(fits);
      if (found === undefined) throw new Error(`no log line: ${what}`);
      return found;
    },
  };
}
