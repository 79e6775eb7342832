/** The command line of `npm run campaign`. */
import { type CampaignFile, readCampaignFile, readCampaignOptions } from "@offhook/campaign/campaign-file";
import { specSchema } from "@offhook/campaign/records";
import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { z } from "zod";

export const USAGE = `npm run campaign -- COMMAND   many calls, judged once each, by any number of workers

  start FILE | --scenarios S[,S…]   begin a campaign and work it off here
  status [ID]                       how far the campaigns are
  resume ID                         go on with one that was cancelled or left
  cancel ID                         begin no further call of it
  report ID                         pass rates, response times, flaky scenarios
  worker                            place calls of every campaign that runs
  list                              every campaign

Of start (a file may say all of it, in YAML: name, scenarios, repeat, variants, speed, agents, keep, seed, …):
  --scenarios S       names of scenarios, paths, or all
  --repeat N          calls of each scenario and variant; default 1
  --variant V         name[:option=value…], repeatable: json:framing=json, slow:speed=1, next:agent=ws://…
  --agent URL         the agents to call in turn, repeatable; default: each worker starts twins and agents
  --speed N           times faster than real time, up to 50; default 1
  --keep WHOSE        reports, traces and audio of all, failures (default) or none
  --baseline ID       campaign to compare with
  --seed N            for what is drawn in calls; default 0
  --name NAME         default: the names of the scenarios
  --detach            leave the calls to workers elsewhere

Of start, resume and worker:
  --workers N         processes; default 1
  --concurrency N     calls at a time in each; default 1
  --campaign ID       worker: end when this one is complete
  --agent URL, --twins URL, --key KEY
                      worker: call this agent, judge through these twins (key: else SANDBOX_API_KEY)
Of report:
  --format F          markdown (default), json or junit
  --baseline ID       campaign to compare with

CAMPAIGN_DATABASE_URL names a Postgres that other machines reach; otherwise one runs here while it is needed.
Exit status: 0 when every call passed, 1 when one did not, 2 when nothing could be done.`;

const options = {
  scenarios: { type: "string", multiple: true },
  repeat: { type: "string" },
  variant: { type: "string", multiple: true },
  agent: { type: "string", multiple: true },
  speed: { type: "string" },
  keep: { type: "string" },
  baseline: { type: "string" },
  seed: { type: "string" },
  name: { type: "string" },
  detach: { type: "boolean" },
  workers: { type: "string" },
  concurrency: { type: "string" },
  campaign: { type: "string" },
  twins: { type: "string" },
  key: { type: "string" },
  format: { type: "string" },
} as const;

const COMMANDS = ["start", "status", "resume", "cancel", "report", "worker", "list"] as const;
const FORMATS = ["markdown", "json", "junit"] as const;

const workSchema = z.object({
  workers: z.coerce.number().int("must be a whole number").min(1).max(1_000).default(1),
  concurrency: z.coerce.number().int("must be a whole number").min(1).max(500).default(1),
  campaign: z.string().optional(),
  agent: specSchema.shape.agents,
  twins: z.url({ protocol: /^https?$/, error: "must be an http:// address" }).optional(),
  key: z.string().optional(),
});

/** How calls are placed here. */
export type WorkOptions = z.output<typeof workSchema>;

/** What was asked for. */
export type CommandLine =
  | { command: "start"; file: CampaignFile; detached: boolean; work: WorkOptions }
  | { command: "resume"; id: string; work: WorkOptions }
  | { command: "worker"; work: WorkOptions }
  | { command: "report"; id: string; format: (typeof FORMATS)[number]; baseline: string | undefined }
  | { command: "cancel"; id: string }
  | { command: "status"; id: string | undefined }
  | { command: "list" };

/**
 * @returns `undefined` for --help
 * @throws UsageError, CampaignError when the file cannot be used
 */
export function readCommandLine(args: string[]): CommandLine | undefined {
  const given = readArguments(USAGE, options, args);
  if (given === undefined) return undefined;
  const { values, positionals } = given;
  const [command = "", ...rest] = positionals;
  const [first] = rest;
  if (rest.length > 1) throw refusal(`${command} takes one name, not ${rest.join(" ")}`);
  switch (COMMANDS.find((known) => known === command)) {
    case "start":
      return {
        command: "start",
        file: campaignOf(first, values),
        detached: values.detach ?? false,
        work: workOf({ ...values, agent: [] }),
      };
    case "resume":
      return { command: "resume", id: required(first, command), work: workOf(values) };
    case "worker":
      return { command: "worker", work: workOf(values) };
    case "report":
      return {
        command: "report",
        id: required(first, command),
        format: oneOf("format", FORMATS, values.format ?? "markdown"),
        baseline: values.baseline,
      };
    case "cancel":
      return { command: "cancel", id: required(first, command) };
    case "status":
      return { command: "status", id: first };
    case "list":
      return { command: "list" };
    case undefined:
      throw refusal(command === "" ? "say what to do" : `there is no command "${command}"`);
  }
}

type Values = NonNullable<ReturnType<typeof readArguments<typeof options>>>["values"];

function campaignOf(file: string | undefined, values: Values): CampaignFile {
  const { scenarios, variant, agent, repeat, speed, seed, keep, baseline, name } = values;
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const said = {
    scenarios: scenarios?.flatMap((text) => text.split(",")),
    variants: variant?.map(variantOf),
    agents: agent,
    repeat: number(repeat),
    speed: number(speed),
    seed: number(seed),
    keep: keep === undefined ? undefined : oneOf("keep", ["all", "failures", "none"] as const, keep),
    baseline,
    name,
  };
  const overrides = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  return file === undefined ? readCampaignOptions(overrides) : readCampaignFile(file, overrides);
}

/** Reads `name:option=value:option=value`; the value of `agent` is the rest. */
function variantOf(text: string): { name: string; [option: string]: unknown } {
  const [, head = text, agent] = /^(.*?):agent=(.*)$/.exec(text) ?? [];
  const [name = "", ...pairs] = head.split(":");
  const members = pairs.map((pair) => {
    const [option = "", value = ""] = pair.split("=");
    return [option, option === "speed" ? Number(value) : value];
  });
  return { name, ...Object.fromEntries(members), ...(agent === undefined ? {} : { agent }) };
}

function workOf(values: Values): WorkOptions {
  const parsed = workSchema.safeParse(values);
  if (parsed.success) return parsed.data;
  throw refusal(parsed.error.issues.map(({ path, message }) => `--${path.join(".")}: ${message}`).join("\n"));
}

function oneOf<const Known extends string>(option: string, known: readonly Known[], text: string): Known {
  const found = known.find((each) => each === text);
  if (found !== undefined) return found;
  throw refusal(`--${option} takes ${known.join(", ")}, not ${text}`);
}

function required(id: string | undefined, command: string): string {
  if (id !== undefined) return id;
  throw refusal(`${command} takes the id of a campaign; npm run campaign -- list shows them`);
}

function refusal(problem: string): UsageError {
  return new UsageError(`${problem}\n\n${USAGE}`);
}
