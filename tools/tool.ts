/** The contract of a tool: what a file in this folder exports as its default. */
import type { z } from "zod";

/** Where a tool's own output goes; one line per call, tagged with the call and the tool. */
export interface ToolLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** The agent's database (`DATABASE_URL`), pooled and bounded. */
export interface Database {
  /** Runs one parameterised statement. @returns its rows @throws the driver's error */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** What a tool is given besides its arguments. */
export interface ToolContext<Environment = Record<string, unknown>> {
  /** The runtime's id of the phone call, when it sent one. */
  callId: string | undefined;
  /** Aborted when the tool has run past its time limit. */
  signal: AbortSignal;
  log: ToolLog;
  database: Database;
  /** The variables the tool has declared; the same object in every run, so that a client can be cached by it. */
  environment: Readonly<Environment>;
}

export interface Tool<
  Parameters extends z.ZodObject = z.ZodObject,
  Environment extends z.ZodObject = z.ZodObject,
> {
  /** What the model calls it: letters, digits, `_` and `-`, at most 64. */
  name: string;
  /** When the model should use it, at most 1000 characters. */
  description: string;
  /** Becomes the JSON schema sent to the runtime; arguments are checked against it before `run`. */
  parameters: Parameters;
  /** Variables of the agent's environment that it needs. A variable that is missing or wrong fails the tool's runs, not the agent. */
  environment?: Environment;
  /** Time limit of a run; default 15000, below the runtime's own 20 s. */
  timeoutMs?: number;
  /** Does the work. Returns any JSON-like value; the model gets the message of a thrown error. */
  run(args: z.output<Parameters>, context: ToolContext<z.output<Environment>>): Promise<unknown>;
}

/** Declares a tool; `run` gets its types from `parameters` and `environment`. */
export function defineTool<
  Parameters extends z.ZodObject,
  Environment extends z.ZodObject = z.ZodObject<Record<never, never>>,
>(tool: Tool<Parameters, Environment>): Tool<Parameters, Environment> {
  return tool;
}
