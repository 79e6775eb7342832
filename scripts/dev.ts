/**
 * `npm run dev`: twins and agent as programs of their own, one log, restarted when their files change. Ctrl-C stops
 * all of it.
 */
import { existsSync } from "node:fs";
import { z } from "zod";
import { makeApiKey } from "../twins/sandbox/api-keys.ts";
import { formatLine, readLogLine } from "./dev/log-lines.ts";
import { Part } from "./dev/part.ts";
import { watchFolders } from "./dev/watch-folders.ts";
import { clientEnvironment } from "./shared/client-environment.ts";
import { PROJECT } from "./shared/folders.ts";
import { terminalOf } from "./shared/terminal.ts";

const ENVIRONMENT_FILE = ".env";
/** A restarted agent does not wait long for calls to finish, unless told to. */
const DEV_DRAIN_TIMEOUT_MS = "1000";
const REAL_RUNTIME = "https://api.vapi.ai";

const twinsAddresses = z.object({
  base_url: z.string(),
  api_key: z.string(),
  sandboxes: z.array(
    z.object({
      id: z.string(),
      twins: z.array(
        z.object({
          name: z.string(),
          url: z.string(),
          control_url: z.string(),
          control_auth: z.literal("api_key"),
          environment: z.record(z.string(), z.string()),
        }),
      ),
    }),
  ),
  agent_environment: z.record(z.string(), z.string()),
});
type TwinsAddresses = z.infer<typeof twinsAddresses>;

if (existsSync(ENVIRONMENT_FILE)) process.loadEnvFile(ENVIRONMENT_FILE);
const terminal = terminalOf(process.stdout);
const apiKey = process.env.SANDBOX_API_KEY || makeApiKey();
/** With a key of his own the user wants the real runtime, or another one that he names. */
const ownRuntime = (process.env.VAPI_API_KEY ?? "") !== "";
let addresses: TwinsAddresses | undefined;
let agentUrl: string | undefined;
/** The addresses printed last: a restart that changes none of them prints nothing. */
let printed = "";
let stopping = false;

const twins = new Part({
  name: "twins",
  file: "twins/main.ts",
  args: ["--json"],
  onLine: (line, stream) => {
    const ready = stream === "stdout" ? readAddresses(line) : undefined;
    if (ready === undefined) say("twins", line);
    else startAgent(ready);
  },
  onExit: (code) => ended("twins", code),
});
const agent = new Part({
  name: "agent",
  file: "agent/main.ts",
  onLine: (line) => {
    say("agent", line);
    const url = readLogLine(line)?.url;
    if (agentUrl !== undefined || typeof url !== "string") return;
    agentUrl = url;
    printAddresses();
  },
  onExit: (code) => ended("agent", code),
});
const watches = [
  watchFolders(PROJECT, ["agent", "tools"], isSource, (file) => restart("agent", file)),
  watchFolders(PROJECT, ["twins", "samples/scenarios"], isTwinsFile, (file) => restart("twins", file)),
];

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stopAll(0));
twins.start(twinsEnvironment());

function twinsEnvironment(): Record<string, string | undefined> {
  return { ...process.env, SANDBOX_API_KEY: apiKey };
}

/** The twins answer: the agent is started with what it needs to find them. */
function startAgent(ready: TwinsAddresses): void {
  addresses = ready;
  agentUrl = undefined;
  if (stopping) return;
  agent.start(agentEnvironment(ready));
}

function agentEnvironment(ready: TwinsAddresses): Record<string, string | undefined> {
  const { VAPI_API_KEY, VOICE_API_URL, ...others } = clientEnvironment(ready);
  const runtime = ownRuntime ? {} : { VAPI_API_KEY, VOICE_API_URL };
  return {
    DRAIN_TIMEOUT_MS: DEV_DRAIN_TIMEOUT_MS,
    // What the environment file says of the agent; what the user set himself stands.
    ...ready.agent_environment,
    ...process.env,
    ...others,
    ...runtime,
    // Its addresses are this machine's business, unless the user named one.
    ...(process.env.DATABASE_URL ? { DATABASE_URL: process.env.DATABASE_URL } : {}),
  };
}

let restarting: Promise<void> = Promise.resolve();

/** One restart after another; the agent depends on the twins, so it follows them. */
function restart(part: "agent" | "twins", file: string): void {
  restarting = restarting.then(async () => {
    if (stopping) return;
    say(part, `${file} changed: restarting`);
    await agent.stop();
    agentUrl = undefined;
    if (part === "agent" && twins.running && addresses !== undefined) return startAgent(addresses);
    await twins.stop();
    twins.start(twinsEnvironment());
  });
}

function ended(part: "agent" | "twins", code: number | null): void {
  if (stopping) return;
  if (agentUrl === undefined && addresses === undefined) {
    // Nothing has worked yet, so there is nothing to keep.
    void stopAll(1);
    return;
  }
  say(part, terminal.bad(`ended (${code ?? "killed"}); it is started again when one of its files changes`));
}

async function stopAll(exitCode: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  for (const watch of watches) watch.close();
  await restarting;
  // The agent first: it ends its calls while the runtime still answers.
  await agent.stop();
  await twins.stop();
  process.exit(exitCode);
}

function printAddresses(): void {
  const current = JSON.stringify([addresses, agentUrl]);
  if (addresses === undefined || agentUrl === undefined || current === printed) return;
  printed = current;
  const { bold, dim, line } = terminal;
  const voice = `${agentUrl.replace(/^http/, "ws")}/voice`;
  line();
  line(`${bold("agent")}     ${agentUrl}   ${dim("callers:")} ${voice}`);
  line(`${bold("twins")}     ${addresses.base_url}   ${dim("control key:")} ${addresses.api_key}`);
  for (const { name, url, control_url } of addresses.sandboxes.flatMap((sandbox) => sandbox.twins)) {
    line(`${name.padEnd(9)} ${url}   ${dim(`control: ${control_url}`)}`);
  }
  if (ownRuntime) {
    line(
      `${bold("runtime")}   ${process.env.VOICE_API_URL || REAL_RUNTIME}, with your VAPI_API_KEY: calls cost money`,
    );
  }
  line();
  line(`call it, in another terminal:  ${bold("npm run dial")}`);
  line(
    dim(
      `from elsewhere:  npm run dial -- --url ${voice} --twins ${addresses.base_url} --key ${addresses.api_key}`,
    ),
  );
  line(dim("a change in agent/ or tools/ restarts the agent, one in twins/ or samples/scenarios/ the twins"));
  line();
}

function readAddresses(line: string): TwinsAddresses | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return twinsAddresses.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function isSource(file: string): boolean {
  return file.endsWith(".ts");
}

/** The caller is no part of the running twins. */
function isTwinsFile(file: string): boolean {
  return /\.(ts|sql|yaml)$/.test(file) && !/^twins\/caller\//.test(file);
}

function say(part: string, line: string): void {
  terminal.line(formatLine(part, line, terminal));
}
