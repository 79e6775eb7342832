/** The command line of `npm run load`. */
import { isIPv4 } from "node:net";
import { availableParallelism, networkInterfaces } from "node:os";
import { firstScenario } from "@offhook/caller/scenario-file";
import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { z } from "zod";
import { type Callee, locateCallee } from "../dial/options.ts";
import { SCENARIOS_FOLDER } from "../shared/folders.ts";
import type { Limits } from "./knee.ts";

const MAX_CALLS = 10_000;
const MAX_PROCESSES = 128;
/** More calls than this to another machine need --yes. */
const MAX_UNASKED_CALLS = 20;
/** The search for the knee ends at so many times --calls. */
const KNEE_REACH = 10;

export const USAGE = `npm run load -- [--calls N] [--url URL]   a load test of an agent, with the simulated caller

  --calls N           calls at a time, up to ${MAX_CALLS}; default 20
  --rate N            new calls a second; default 10
  --for SECONDS       how long the calls are kept up, each that ends replaced; default 60
  --knee              then step the calls up by a quarter, each step for as long, until a limit is passed
  --max N             where the search for the knee ends; default ${KNEE_REACH} times --calls
  --setup-p95 MS      limit of the knee: time until a call is answered; default 2000
  --response-p95 MS   limit of the knee: from the caller's last sound to the agent's first; default 4000
  --late PERCENT      limit of the knee: frames of the agent more than 60 ms late; default 1
  --failed PERCENT    limit of the knee: calls that fail; default 1
  --url URL           the agent; default: the one that runs here. Another machine's must be named here
  --yes               more than ${MAX_UNASKED_CALLS} calls at another machine
  --metrics URL       the agent's metrics (Prometheus text): memory, its slope from --for 600 on, processor
                      time, calls
  --scenario NAME     what the callers say: a file in samples/scenarios, or a path; default: the first of them
  --protocol P        framing of the voice channel, binary or json; default: the scenario's, else binary
  --processes N       processes of callers; default: one a core, less one
  --json              print one object, and nothing else, on standard output
                      (npm itself prints two lines before it, unless run with --silent)
  --twins URL         the twins behind the agent; default: those that run here, TWINS_URL
  --key KEY           key of their control plane; default: theirs, SANDBOX_API_KEY
  --no-twins          there are no twins behind it: the agent's own runtime answers
  --help

Times are given only where the load itself was in time. Ctrl-C ends the calls and prints what was measured so far.
Exit status: 0 when everything was measured, 1 when no call was answered or a figure was refused, 2 when nothing was
called, 130 when it was interrupted.`;

const options = {
  calls: { type: "string" },
  rate: { type: "string" },
  for: { type: "string" },
  knee: { type: "boolean" },
  max: { type: "string" },
  "setup-p95": { type: "string" },
  "response-p95": { type: "string" },
  late: { type: "string" },
  failed: { type: "string" },
  url: { type: "string" },
  yes: { type: "boolean" },
  metrics: { type: "string" },
  scenario: { type: "string" },
  protocol: { type: "string" },
  processes: { type: "string" },
  json: { type: "boolean" },
  twins: { type: "string" },
  key: { type: "string" },
  "no-twins": { type: "boolean" },
} as const;

const count = (max: number) =>
  z.coerce.number("must be a number").int("must be a whole number").min(1).max(max);
const limitMs = z.coerce.number("must be a number").min(1).max(60_000);
const percentage = z.coerce.number("must be a number").min(0).max(100);
const httpUrl = z.url({ protocol: /^https?$/, error: "must be an http:// address" });
const valuesSchema = z.object({
  calls: count(MAX_CALLS).default(20),
  rate: z.coerce.number("must be a number").min(0.1).max(1_000).default(10),
  for: z.coerce.number("must be a number").min(1).max(86_400).default(60),
  knee: z.boolean().default(false),
  max: count(MAX_CALLS).optional(),
  "setup-p95": limitMs.default(2_000),
  "response-p95": limitMs.default(4_000),
  late: percentage.default(1),
  failed: percentage.default(1),
  url: z.string().optional(),
  yes: z.boolean().default(false),
  metrics: httpUrl.optional(),
  scenario: z.string().min(1).optional(),
  protocol: z.enum(["binary", "json"]).optional(),
  processes: count(MAX_PROCESSES).optional(),
  json: z.boolean().default(false),
  twins: httpUrl.optional(),
  key: z.string().min(1).optional(),
  "no-twins": z.boolean().default(false),
});

export interface LoadOptions {
  callee: Callee;
  calls: number;
  rate: number;
  plateauSeconds: number;
  knee: { maxCalls: number; limits: Limits } | undefined;
  metricsUrl: string | undefined;
  scenario: string;
  processes: number;
  json: boolean;
}

type Environment = Record<string, string | undefined>;

/** The command line alone, before the agent and the twins are located. */
export type CommandLine = z.infer<typeof valuesSchema>;

/** @returns `undefined` for --help. @throws UsageError */
export function readCommandLine(args: string[]): CommandLine | undefined {
  const given = readArguments(USAGE, options, args);
  if (given === undefined) return undefined;
  const [stray] = given.positionals;
  if (stray !== undefined)
    throw new UsageError(`"${stray}" belongs to no option: --scenario takes one\n\n${USAGE}`);
  const parsed = valuesSchema.safeParse(given.values);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `--${path.join(".")}: ${message}`);
    throw new UsageError(`${problems.join("\n")}\n\n${USAGE}`);
  }
  return parsed.data;
}

/** Locates the agent and the twins. @throws UsageError, also for calls that the user has to allow first */
export function readOptions(line: CommandLine, env: Environment): LoadOptions {
  const { calls, rate, metrics, json } = line;
  const maxCalls = line.max ?? Math.min(MAX_CALLS, calls * KNEE_REACH);
  if (maxCalls < calls) throw new UsageError(`--max ${maxCalls} is less than --calls ${calls}\n\n${USAGE}`);
  return {
    callee: allowedCallee(line, env, line.knee ? maxCalls : calls),
    calls,
    rate,
    plateauSeconds: line.for,
    knee: line.knee
      ? {
          maxCalls,
          limits: {
            setupP95Ms: line["setup-p95"],
            responseP95Ms: line["response-p95"],
            shareLate: line.late / 100,
            shareFailed: line.failed / 100,
          },
        }
      : undefined,
    metricsUrl: metrics,
    scenario: line.scenario ?? firstScenario(SCENARIOS_FOLDER),
    processes: Math.min(calls, line.processes ?? Math.max(1, availableParallelism() - 1)),
    json,
  };
}

/** The agent to call, if the user has said that so many calls may go there. */
function allowedCallee(line: CommandLine, env: Environment, calls: number): Callee {
  const callee = locateCallee(line, env);
  const { host, hostname } = new URL(callee.url);
  if (isThisMachine(hostname)) return callee;
  if (line.url === undefined) {
    throw new UsageError(`${host} is another machine: name it with --url to have it called`);
  }
  if (calls > MAX_UNASKED_CALLS && !line.yes) {
    throw new UsageError(
      `${calls} calls at ${host}, another machine, may cost its owner money and its callers their service: add --yes`,
    );
  }
  const areTwinsNamed = line.twins !== undefined || (env.TWINS_URL ?? "") !== "";
  return areTwinsNamed ? callee : { ...callee, sandbox: undefined };
}

/** Whether a host name is this machine's own: loopback, or an address of its interfaces. */
function isThisMachine(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  if (isIPv4(name) && name.startsWith("127.")) return true;
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return name === "::1" || addresses.some(({ address }) => address === name);
}
