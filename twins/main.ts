/**
 * `npm run twins -- [--environment FILE] [--json]`: the twins alone, until Ctrl-C.
 * `npm run twins -- exec [--environment FILE] -- COMMAND …`: a command that meets the twins under the vendors' names.
 */
import path from "node:path";
import { parseArgs } from "node:util";
import { allowedHostsSetting, allowedOriginsSetting } from "@offhook/platform/http/access-policy";
import { readKeyVariable } from "@offhook/platform/http/api-keys";
import { PlatformKeys } from "@offhook/platform/journal/known-secrets";
import { MASK } from "@offhook/platform/journal/mask";
import { childEnvironment, type Reachable } from "@offhook/platform/names/child-environment";
import { describeNames, type Names } from "@offhook/platform/names/names";
import { readOutside } from "@offhook/platform/names/outside";
import { startProxy } from "@offhook/platform/names/proxy";
import { runCommand } from "@offhook/platform/names/run-command";
import { findRunning } from "@offhook/platform/names/running";
import { upstreamSetting } from "@offhook/platform/names/upstream";
import { endOnSignal } from "@offhook/platform/server/end-on-signal";
import { onNpmGone, onReaderGone } from "@offhook/platform/server/end-with-caller";
import { readLocator, requireOwnFolder, writeLocator } from "@offhook/platform/server/locator";
import type { RunningTwins } from "@offhook/platform/server/start";
import { startTelemetry } from "@offhook/platform/telemetry/start";
import { pino } from "pino";
import { z } from "zod";
import { startProjectTwins } from "./start.ts";

const port = z.coerce.number("must be a port").int().min(0).max(65_535);

const variables = z.object({
  /** Port of the gateway; 0 takes a free one. Default 6100; under `exec`, a free one. */
  TWINS_PORT: port.optional(),
  /** Port of the TLS listener, and of DNS over UDP and TCP; 0 takes a free one. */
  TWINS_TLS_PORT: port.default(0),
  TWINS_DNS_PORT: port.default(0),
  /** Resolver for other names; none by default under TWINS_STRICT. */
  TWINS_DNS_UPSTREAM: upstreamSetting.prefault(process.env.TWINS_STRICT === "1" ? "none" : "system"),
  /** Clients whose queries about other names are forwarded: those of this machine, or all. */
  TWINS_DNS_FORWARD_FOR: z.enum(["loopback", "all"]).default("loopback"),
  /** IP address that the names resolve to, if clients do not reach the gateway at its own. */
  TWINS_DNS_ANSWER: z.union([z.ipv4(), z.ipv6()], "must be an IP address").optional(),
  /** Address the gateway listens on. */
  TWINS_HOST: z.string().min(1).default("127.0.0.1"),
  /** Host names and origins of pages to answer, besides those of this machine; separated by commas. */
  ALLOWED_HOSTS: allowedHostsSetting.prefault(""),
  ALLOWED_ORIGINS: allowedOriginsSetting.prefault(""),
  /** Key of the control plane; generated and printed when unset. */
  SANDBOX_API_KEY: z.string().min(8).optional(),
  /** Hashes of organisations' keys, `organisation=sha256:…` separated by commas; the first one owns `dev`. */
  SANDBOX_API_KEYS: z.string().default(""),
  /** Sandboxes of an organisation at a time. */
  SANDBOX_LIMIT: z.coerce.number("must be a number").int().min(1).max(10_000).optional(),
  /** Environment variables that services of `POST /sandboxes` may name, separated by commas. */
  SANDBOX_VARIABLES: z.string().default(""),
  /** Limit of a dataset's file, in MiB. */
  DATASET_LIMIT_MB: z.coerce.number("must be a number").int().min(1).max(1_000_000).optional(),
  /** Limit of a twin's snapshot, in MiB. */
  SNAPSHOT_LIMIT_MB: z.coerce.number("must be a number").int().min(1).max(1_000_000).optional(),
  /** Limit of a log twin's store, in MiB. */
  STORE_LIMIT_MB: z.coerce.number("must be a number").int().min(1).max(1_000_000).optional(),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).optional(),
});
type Settings = z.infer<typeof variables> & { TWINS_PORT: number; LOG_LEVEL: string };

const GATEWAY_PORT = 6100;
/** Cache of the datasets of the environment file. */
const DATASET_FOLDER = ".offhook/datasets";
const usage = `npm run twins -- [--environment FILE] [--json]
                     the twins alone, until Ctrl-C
npm run twins -- exec [--environment FILE] -- COMMAND [ARGUMENT …]
                     a command that meets the twins under the vendors' names

  --environment FILE   what there is; default: twins/environment.yaml. exec without it uses twins that run here
  --json               the first line on standard output is an object with every address
  --help

Ports, keys and limits are variables: twins/README.md has them.`;

async function main(): Promise<void> {
  const [first, ...rest] = process.argv.slice(2);
  const own = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
  if ([first, ...own].some((argument) => argument === "--help" || argument === "-h")) console.log(usage);
  else if (first === "exec") process.exitCode = await execute(rest);
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
  const { console: page } = twins;
  // The file outlasts a one-time code, so that only what is printed has one.
  const located = page ? { ...found, console_url: page.url } : found;
  const link = page?.createLink();
  const forget = await writeLocator("twins", located).catch(async (error: unknown) => {
    await running.stop();
    throw error;
  });
  endOnSignal(() => Promise.all([running.stop(), forget()]));
  const end = () => process.kill(process.pid, "SIGTERM");
  onNpmGone(end);
  onReaderGone(end);
  // Last, since a reader of the addresses may stop the program at once.
  const printed = link === undefined ? found : { ...found, console_url: link };
  process.stdout.write(json ? `${JSON.stringify(printed)}\n` : asText(twins, names, link));
}

/** Runs a command against the twins that run in this folder, or else against its own. @returns the command's exit status */
async function execute(args: string[]): Promise<number> {
  const mark = args.indexOf("--");
  const [command, ...commandArgs] = mark < 0 ? [] : args.slice(mark + 1);
  if (command === undefined) throw new Error(`exec needs a command after --\n\n${usage}`);
  // The command shares our output streams and handles their end itself; npm's end is passed on to it as SIGTERM.
  onNpmGone(() => process.kill(process.pid, "SIGTERM"));
  onReaderGone(() => undefined);
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
  const { names } = reachable;
  const strict = process.env.TWINS_STRICT === "1";
  const proxy = await startProxy({
    names,
    ...(strict ? {} : { outside: readOutside(process.env) }),
    onRefused: (message) => process.stderr.write(`exec: ${message}\n`),
  });
  try {
    const environment = await childEnvironment(process.env, reachable, proxy.url);
    const set = (reachable.sandboxes[0]?.twins ?? []).flatMap((twin) => Object.keys(twin.environment));
    const others = strict ? "refused" : "passed on";
    const lines = [
      title,
      `proxy  ${new URL(proxy.url).host} (HTTPS_PROXY, HTTP_PROXY, for programs that are not Node's; other names are ${others})`,
      ...describeNames(names),
      `sets ${set.join(", ")}`,
    ];
    // Standard output belongs to the command.
    process.stderr.write(`${lines.join("\n  ")}\n`);
    return await runCommand(command, args, environment);
  } finally {
    await proxy.close();
  }
}

interface Running {
  twins: RunningTwins;
  names: Names;
  stop(): Promise<void>;
}

async function startAll(environment: string | undefined, settings: Settings): Promise<Running> {
  await requireOwnFolder();
  // Standard output is for addresses; the log goes to standard error.
  const platformKeys = new PlatformKeys(MASK);
  const errors = pino.destination(2);
  const write = (line: string) => void errors.write(platformKeys.maskIn(line));
  const log = pino({ level: settings.LOG_LEVEL }, { write });
  const telemetry = await startTelemetry("offhook-twins", log);
  const onProgress = (what: string) => void process.stderr.write(`${what}\n`);
  onProgress("the twins start; the first start makes the datasets and takes longer");
  const twins = await startProjectTwins({
    port: settings.TWINS_PORT,
    host: settings.TWINS_HOST,
    log,
    telemetry,
    onProgress,
    platformKeys,
    allowedHosts: settings.ALLOWED_HOSTS,
    allowedOrigins: settings.ALLOWED_ORIGINS,
    certificate: async () => {
      const { issueLocal } = await import("@offhook/platform/names/authority");
      return issueLocal(settings.TWINS_HOST, path.resolve(".offhook"));
    },
    ...(environment === undefined ? {} : { environmentFile: environment }),
    ...(settings.SANDBOX_API_KEY === undefined ? {} : { apiKey: settings.SANDBOX_API_KEY }),
    givenVariables: settings.SANDBOX_VARIABLES.split(",").map((name) => name.trim()),
    keys: readKeyVariable(settings.SANDBOX_API_KEYS),
    ...(settings.SANDBOX_LIMIT === undefined ? {} : { maxSandboxes: settings.SANDBOX_LIMIT }),
    channels: findAgentChannels,
    datasetFolder: DATASET_FOLDER,
    ...(settings.DATASET_LIMIT_MB === undefined
      ? {}
      : { maxDatasetBytes: settings.DATASET_LIMIT_MB * 1024 ** 2 }),
    ...(settings.SNAPSHOT_LIMIT_MB === undefined
      ? {}
      : { maxSnapshotBytes: settings.SNAPSHOT_LIMIT_MB * 1024 ** 2 }),
    ...(settings.STORE_LIMIT_MB === undefined
      ? {}
      : { storeLimitBytes: settings.STORE_LIMIT_MB * 1024 ** 2 }),
  });
  try {
    // Loaded late, because the certificate code takes long to load.
    const { startNames } = await import("@offhook/platform/names/start");
    const started = await startNames({
      twins,
      host: settings.TWINS_HOST,
      tlsPort: settings.TWINS_TLS_PORT,
      dnsPort: settings.TWINS_DNS_PORT,
      ...(settings.TWINS_DNS_UPSTREAM ? { upstream: settings.TWINS_DNS_UPSTREAM } : {}),
      forwardFor: settings.TWINS_DNS_FORWARD_FOR,
      ...(settings.TWINS_DNS_ANSWER ? { answer: settings.TWINS_DNS_ANSWER } : {}),
      log,
    });
    // The names stop last, so that the twins close the sockets that came over TLS before their listener cuts them.
    const stop = async () => {
      await twins.stop().finally(started.stop);
      await telemetry.stop();
    };
    return { twins, names: started.names, stop };
  } catch (error) {
    await twins.stop();
    throw error;
  }
}

const agentLocator = z.object({ url: z.url() });

/** The voice channel of the agent that runs in this folder. */
async function findAgentChannels() {
  const agent = await readLocator("agent", agentLocator);
  if (agent === undefined) return [];
  const url = `${agent.url.replace(/^http/, "ws")}/voice`;
  return [{ type: "voice_ws", url, protocol: "binary" } as const];
}

function readArguments(args: string[]) {
  try {
    const options = { environment: { type: "string" }, json: { type: "boolean", default: false } } as const;
    return parseArgs({ options, args }).values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
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

function asText(twins: RunningTwins, names: Names, consoleLink: string | undefined): string {
  const lines = [
    `gateway and engine  ${twins.baseUrl}`,
    `API key             ${twins.apiKey}  (header X-API-Key)`,
  ];
  if (consoleLink !== undefined) lines.push(`console             ${consoleLink}`);
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
