/** The contract of a tool: what a file in this folder exports as its default. */
import type { z } from "zod";

/** Where a tool's own output goes; one line per call, tagged with the call and the tool. */
export interface ToolLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** The agent's database (`DATABASE_URL`), pooled and bounded. */
export interface Database {
  /** Runs one parameterised statement and answers its rows. @throws the driver's error */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** What a tool is given besides its arguments. */
export interface ToolContext {
  /** The runtime's id of the phone call, when it sent one. */
  callId: string | undefined;
  /** Aborted when the tool has run past its time limit. */
  signal: AbortSignal;
  log: ToolLog;
  database: Database;
}

export interface Tool<Parameters extends z.ZodObject = z.ZodObject> {
  /** What the model calls it: letters, digits, `_` and `-`, at most 64. */
  name: string;
  /** When the model should use it, at most 1000 characters. */
  description: string;
  /** Becomes the JSON schema sent to the runtime; arguments are checked against it before `run`. */
  parameters: Parameters;
  /** Longest a run may take; default 15000, below the runtime's own 20 s. */
  timeoutMs?: number;
  /** Does the work. Any JSON-like value may be returned; a thrown error is told to the model by its message. */
  run(args: z.output<Parameters>, context: ToolContext): Promise<unknown>;
}

/** Declares a tool; `args` of `run` get their types from `parameters`. */
export function defineTool<Parameters extends z.ZodObject>(tool: Tool<Parameters>): Tool<Parameters> {
  return tool;
}
