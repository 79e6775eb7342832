/** The command line of `npm run dial`. */

import type { Framing } from "@offhook/caller/line";
import type { SandboxAddress } from "@offhook/caller/sandbox-client";
import { firstScenario } from "@offhook/caller/scenario-file";
import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { z } from "zod";
import { calleeOf, DEFAULT_URL, sandboxOf, voiceHeaders } from "../shared/callee.ts";
import { SCENARIOS_FOLDER } from "../shared/folders.ts";
import { locateAgent } from "../shared/locator.ts";

export const USAGE = `npm run dial -- [scenario…]   call the agent, as each scenario says

  scenario            name of a file in samples/scenarios, path of a file or a folder, or all
                      (default: the first of them)
  --url URL           the agent; default: VOICE_URL, the one that runs here, the channel of
                      the twins' environment file, ${DEFAULT_URL}
  --protocol P        framing of the voice channel, binary or json; default: the scenario's, else binary
  --speed N           times faster than real time, up to 50, less on a busy machine; default 1
  --calls N           calls of each scenario; default 1
  --concurrency N     calls at a time; default 1
  --record DIR        write each call to a stereo WAV (caller left, agent right)
  --json              print one object, and nothing else, on standard output
                      (npm itself prints two lines before it, unless run with --silent)
  --twins URL         the twins behind the agent; default: those that run here, TWINS_URL
  --key KEY           key of their control plane; default: theirs, SANDBOX_API_KEY
  --no-twins          judge the calls by their audio alone
  --help

Exit status: 0 when every call did what its scenario expects, 1 when one did not, 2 when nothing was called.`;

const options = {
  url: { type: "string" },
  protocol: { type: "string" },
  speed: { type: "string" },
  calls: { type: "string" },
  concurrency: { type: "string" },
  record: { type: "string" },
  json: { type: "boolean" },
  twins: { type: "string" },
  key: { type: "string" },
  "no-twins": { type: "boolean" },
} as const;

const count = z.coerce.number("must be a number").int("must be a whole number").min(1).max(10_000);
const valuesSchema = z.object({
  url: z.string().optional(),
  protocol: z.enum(["binary", "json"]).optional(),
  speed: z.coerce.number("must be a number").min(0.1).max(50).default(1),
  calls: count.default(1),
  concurrency: count.default(1),
  record: z.string().min(1).optional(),
  json: z.boolean().default(false),
  twins: z.url({ protocol: /^https?$/, error: "must be an http:// address" }).optional(),
  key: z.string().min(1).optional(),
  "no-twins": z.boolean().default(false),
});

export interface DialOptions {
  scenarios: string[];
  url: string;
  framing: Framing | undefined;
  speed: number;
  calls: number;
  concurrency: number;
  recordFolder: string | undefined;
  json: boolean;
  sandbox: SandboxAddress | undefined;
  headers: Record<string, string>;
}

/** The command line alone, before the agent and the twins are located. */
export type CommandLine = z.infer<typeof valuesSchema> & { scenarios: string[] };

type Environment = Record<string, string | undefined>;

/** @returns `undefined` for --help. @throws UsageError */
export function readCommandLine(args: string[]): CommandLine | undefined {
  const given = readArguments(USAGE, options, args);
  if (given === undefined) return undefined;
  const { values, positionals } = given;
  const parsed = valuesSchema.safeParse(values);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `--${path.join(".")}: ${message}`);
    throw new UsageError(`${problems.join("\n")}\n\n${USAGE}`);
  }
  return {
    ...parsed.data,
    scenarios: positionals.length === 0 ? [firstScenario(SCENARIOS_FOLDER)] : positionals,
  };
}

/** The agent named on the command line or in the environment. */
export function namedAgent({ url }: Pick<CommandLine, "url">, env: Environment): string | undefined {
  return url ?? env.VOICE_URL;
}

/** What to dial, once the agent and the twins are located. @throws UsageError */
export function findCallee(line: CommandLine, env: Environment): DialOptions {
  const { json, calls, concurrency, speed, scenarios, record } = line;
  return { scenarios, speed, calls, concurrency, recordFolder: record, json, ...locateCallee(line, env) };
}

/** The part of a command line that says whom to call. */
export type CalleeLine = Pick<CommandLine, "url" | "protocol" | "twins" | "key" | "no-twins">;

/** The agent to call, and the twins behind it. */
export type Callee = Pick<DialOptions, "url" | "framing" | "sandbox" | "headers">;

/** Locates the agent and the twins. @throws UsageError */
export function locateCallee(line: CalleeLine, env: Environment): Callee {
  return {
    ...calleeOf(namedAgent(line, env) ?? locateAgent()?.url, line.protocol),
    sandbox: line["no-twins"]
      ? undefined
      : sandboxOf(line.twins ?? env.TWINS_URL, line.key ?? env.SANDBOX_API_KEY),
    headers: voiceHeaders(env),
  };
}
