/** Formats pino's JSON lines for people: time, part, level, message, details. */
import { z } from "zod";
import type { Terminal } from "../shared/terminal.ts";

const logLine = z.looseObject({
  level: z.number(),
  time: z.union([z.number(), z.string()]),
  msg: z.string().optional(),
});
type LogLine = z.infer<typeof logLine>;

/** Members that are not details: constant ones, and those printed elsewhere. */
const NOT_DETAILS = new Set(["level", "time", "msg", "pid", "hostname"]);
const WARN = 40;
const ERROR = 50;

/** Parses a log line; `undefined` for any other text. */
export function readLogLine(line: string): LogLine | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return logLine.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

const TIME_CHARS = 12;
const PART_CHARS = 5;
const INDENT = " ".repeat(TIME_CHARS + 2 + PART_CHARS + 2);

/** Prints one line of a part's output, wrapped to the terminal's width. */
export function printLine(part: string, line: string, terminal: Terminal): void {
  const parsed = readLogLine(line);
  const name = terminal.bold(part.padEnd(PART_CHARS));
  const time = parsed && new Date(parsed.time).toISOString().slice(11, 23);
  const head = `${time === undefined ? " ".repeat(TIME_CHARS) : terminal.dim(time)}  ${name}  `;
  const pieces = parsed
    ? [mark(parsed.level, parsed.msg ?? "", terminal), details(parsed, terminal)]
    : [line];
  terminal.wrap(pieces.filter((piece) => piece !== "").join(" "), { head, indent: INDENT });
}

function mark(level: number, message: string, { bad, tool, dim }: Terminal): string {
  if (level >= ERROR) return bad(`error: ${message}`);
  if (level >= WARN) return tool(`warning: ${message}`);
  return level < 30 ? dim(message) : message;
}

function details(line: LogLine, { dim }: Terminal): string {
  const shown = Object.entries(line)
    .filter(([name]) => !NOT_DETAILS.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return shown.length === 0 ? "" : dim(shown.join(" "));
}
