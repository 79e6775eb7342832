/**
 * `npm run twins -- [--environment FILE] [--json]`: the twins alone, until Ctrl-C.
 * `npm run twins -- exec [--environment FILE] -- COMMAND …`: a command that meets the twins under the vendors' names.
 */
import { parseArgs } from "node:util";
import { pino } from "pino";
import { z } from "zod";
import { childEnvironment, type Reachable } from "./names/child-environment.ts";
import { describeNames, describeOtherPrograms, type Names } from "./names/names.ts";
import { runCommand } from "./names/run-command.ts";
import { findRunning } from "./names/running.ts";
import { upstreamSetting } from "./names/upstream.ts";
import { readKeyVariable } from "./sandbox/api-keys.ts";
import { writeLocator } from "./sandbox/locator.ts";
import { type RunningTwins, startTwins } from "./sandbox/start.ts";

const port = z.coerce.number("must be a port").int().min(0).max(65_535);

const variables = z.object({
  /** Port of the gateway; 0 takes a free one. Default 6100; under `exec`, a free one. */
  TWINS_PORT: port.optional(),
  /** Port of the TLS listener, and of DNS over UDP and TCP; 0 takes a free one. */
  TWINS_TLS_PORT: port.default(0),
  TWINS_DNS_PORT: port.default(0),
  /** Who is asked about other names; whoever wants to be strict asks nobody. */
  TWINS_DNS_UPSTREAM: upstreamSetting.prefault(process.env.TWINS_STRICT === "1" ? "none" : "system"),
  /** IP address that the names resolve to, for those who reach this machine by another than the gateway's. */
  TWINS_DNS_ANSWER: z.union([z.ipv4(), z.ipv6()], "must be an IP address").optional(),
  /** Address the gateway listens on. */
  TWINS_HOST: z.string().min(1).default("127.0.0.1"),
  /** Key of the control plane; made and printed when unset. */
  SANDBOX_API_KEY: z.string().min(8).optional(),
  /** Hashes of organisations' keys, `organisation=sha256:…` with commas between; the first one owns `dev`. */
  SANDBOX_API_KEYS: z.string().default(""),
  /** Most sandboxes of an organisation at a time. */
  SANDBOX_LIMIT: z.coerce.number("must be a number").int().min(1).max(10_000).optional(),
  /** Variables of this machine that the services of `POST /sandboxes` may name, with commas between. */
  SANDBOX_VARIABLES: z.string().default(""),
  /** Largest file of which a dataset is made, in MiB. */
  DATASET_LIMIT_MB: z.coerce.number("must be a number").int().min(1).max(1_000_000).optional(),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).optional(),
});
type Settings = z.infer<typeof variables> & { TWINS_PORT: number; LOG_LEVEL: string };

const GATEWAY_PORT = 6100;
/** Datasets of the environment file are made once. */
const DATASET_FOLDER = ".offhook/datasets";
const usage = [
  "usage: npm run twins -- [--environment FILE] [--json]",
  "       npm run twins -- exec [--environment FILE] -- COMMAND [ARGUMENT …]",
].join("\n");

async function main(): Promise<void> {
  const [first, ...rest] = process.argv.slice(2);
  if (first === "exec") process.exitCode = await execute(rest);
  else await serve();
}

async function serve(): Promise<void> {
  const { environment, json } = readArguments(process.argv.slice(2));
  const running = await startAll(environment, readVariables({ TWINS_PORT: GATEWAY_PORT, LOG_LEVEL: "info" }));
  const { twins, names } = running;
  const found = {
    base_url: twins.baseUrl,
    api_key: twins.apiKey,
    sandboxes: twins.sandboxes,
    names,
    channels: twins.channels,
    agent_environment: twins.agentEnvironment(process.env.SIMULATION_ID ?? ""),
  };
  const forget = await writeLocator("twins", found).catch(async (error: unknown) => {
    await running.stop();
    throw error;
  });
  const stop = () => {
    Promise.all([running.stop(), forget()]).then(() => process.exit(0), fail);
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  // Last: whoever reads the addresses may stop it at once.
  process.stdout.write(json ? `${JSON.stringify(found)}\n` : asText(twins, names));
}

/** Answers the command's exit status. Twins that run in this folder are used; else its own are started, and stopped. */
async function execute(args: string[]): Promise<number> {
  const mark = args.indexOf("--");
  const [command, ...commandArgs] = mark < 0 ? [] : args.slice(mark + 1);
  if (command === undefined) throw new Error(`exec needs a command after --\n${usage}`);
  const { environment } = readArguments(args.slice(0, mark));
  const running = environment === undefined ? await findRunning() : undefined;
  if (running) return executeAgainst(running, `twins at ${running.baseUrl}`, command, commandArgs);
  const own = await startAll(environment, readVariables({ TWINS_PORT: 0, LOG_LEVEL: "warn" }));
  try {
    const reachable = { sandboxes: own.twins.sandboxes, names: own.names };
    return await executeAgainst(
      reachable,
      `twins at ${own.twins.baseUrl}, for this command`,
      command,
      commandArgs,
    );
  } finally {
    await own.stop();
  }
}

async function executeAgainst(
  reachable: Reachable,
  title: string,
  command: string,
  args: string[],
): Promise<number> {
  // Standard output is the command's.
  const set = (reachable.sandboxes[0]?.twins ?? []).flatMap(({ environment }) => Object.keys(environment));
  const { names } = reachable;
  const lines = [title, ...describeNames(names), ...describeOtherPrograms(names), `sets ${set.join(", ")}`];
  process.stderr.write(`${lines.join("\n  ")}\n`);
  return runCommand(command, args, await childEnvironment(process.env, reachable));
}

interface Running {
  twins: RunningTwins;
  names: Names;
  stop(): Promise<void>;
}

async function startAll(environment: string | undefined, settings: Settings): Promise<Running> {
  // Standard output is for addresses; the log goes beside it.
  const log = pino({ level: settings.LOG_LEVEL }, pino.destination(2));
  const twins = await startTwins({
    port: settings.TWINS_PORT,
    host: settings.TWINS_HOST,
    log,
    ...(environment === undefined ? {} : { environmentFile: environment }),
    ...(settings.SANDBOX_API_KEY === undefined ? {} : { apiKey: settings.SANDBOX_API_KEY }),
    givenVariables: settings.SANDBOX_VARIABLES.split(",").map((name) => name.trim()),
    keys: readKeyVariable(settings.SANDBOX_API_KEYS),
    ...(settings.SANDBOX_LIMIT === undefined ? {} : { mostSandboxes: settings.SANDBOX_LIMIT }),
    datasetFolder: DATASET_FOLDER,
    ...(settings.DATASET_LIMIT_MB === undefined
      ? {}
      : { mostDatasetBytes: settings.DATASET_LIMIT_MB * 1024 ** 2 }),
  });
  try {
    // Certificates take long to load: only what needs them waits for them.
    const { startNames } = await import("./names/start.ts");
    const started = await startNames({
      twins,
      host: settings.TWINS_HOST,
      tlsPort: settings.TWINS_TLS_PORT,
      dnsPort: settings.TWINS_DNS_PORT,
      ...(settings.TWINS_DNS_UPSTREAM ? { upstream: settings.TWINS_DNS_UPSTREAM } : {}),
      ...(settings.TWINS_DNS_ANSWER ? { answer: settings.TWINS_DNS_ANSWER } : {}),
      log,
    });
    // The names last: sockets that came over TLS are closed by their twins, not cut.
    const stop = () => twins.stop().finally(started.stop);
    return { twins, names: started.names, stop };
  } catch (error) {
    await twins.stop();
    throw error;
  }
}

function readArguments(args: string[]) {
  try {
    const options = { environment: { type: "string" }, json: { type: "boolean", default: false } } as const;
    return parseArgs({ options, args }).values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

function readVariables(defaults: Pick<Settings, "TWINS_PORT" | "LOG_LEVEL">): Settings {
  const reading = variables.safeParse(process.env);
  if (reading.success) {
    const { TWINS_PORT = defaults.TWINS_PORT, LOG_LEVEL = defaults.LOG_LEVEL } = reading.data;
    return { ...reading.data, TWINS_PORT, LOG_LEVEL };
  }
  throw new Error(
    reading.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("\n"),
  );
}

function asText(twins: RunningTwins, names: Names): string {
  const lines = [
    `gateway and engine  ${twins.baseUrl}`,
    `API key             ${twins.apiKey}  (header X-API-Key)`,
  ];
  for (const sandbox of twins.sandboxes) {
    lines.push("", `sandbox ${sandbox.id}`);
    for (const twin of sandbox.twins) {
      const key = twin.control_auth === null ? "  (takes no key)" : "";
      lines.push(
        `  ${twin.name}`,
        `    url          ${twin.url}`,
        `    control_url  ${twin.control_url}${key}`,
      );
      if (twin.port_url !== undefined) lines.push(`    port_url     ${twin.port_url}`);
      for (const [name, value] of Object.entries(twin.environment)) lines.push(`    ${name}=${value}`);
    }
  }
  lines.push("", "vendors' names", ...describeNames(names).map((line) => `  ${line}`));
  return `${lines.join("\n")}\n\nCtrl-C stops them.\n`;
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

main().catch(fail);
