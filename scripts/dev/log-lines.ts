/** Turns the JSON lines of pino into lines for people: time, part, level, message, details. */
import { z } from "zod";
import type { Terminal } from "../shared/terminal.ts";

const logLine = z.looseObject({
  level: z.number(),
  time: z.union([z.number(), z.string()]),
  msg: z.string().optional(),
});
type LogLine = z.infer<typeof logLine>;

/** Members every line has, and those that are printed elsewhere. */
const NOT_DETAILS = new Set(["level", "time", "msg", "pid", "hostname"]);
const WARN = 40;
const ERROR = 50;

/** A log line as an object, when it is one. */
export function readLogLine(line: string): LogLine | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return logLine.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** One line of a part's output, for people. */
export function formatLine(part: string, line: string, terminal: Terminal): string {
  const parsed = readLogLine(line);
  const name = terminal.bold(part.padEnd(5));
  if (parsed === undefined) return `${" ".repeat(12)}  ${name}  ${line}`;
  const time = new Date(parsed.time).toISOString().slice(11, 23);
  const message = parsed.msg ?? "";
  return [terminal.dim(time), ` ${name} `, mark(parsed.level, message, terminal), details(parsed, terminal)]
    .filter((piece) => piece !== "")
    .join(" ");
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
