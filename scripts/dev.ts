/**
 * `npm run dev`: runs twins and agent as two processes with one log, and restarts them when their files change or they
 * crash. Ctrl-C stops both.
 */
import { existsSync } from "node:fs";
import { makeApiKey } from "@offhook/platform/http/api-keys";
import { onNpmGone, onReaderGone } from "@offhook/platform/server/end-with-caller";
import { requireOwnFolder } from "@offhook/platform/server/locator";
import { printLine, readLogLine } from "./dev/log-lines.ts";
import { describeLosses, readTwinsState, type TwinsState } from "./dev/losses.ts";
import { BackOff, Part } from "./dev/part.ts";
import { FolderWatch } from "./dev/watch-folders.ts";
import { clientEnvironment } from "./shared/client-environment.ts";
import { type DevState, removeDevState, writeDevState } from "./shared/dev-state.ts";
import { PROJECT } from "./shared/folders.ts";
import { terminalOf } from "./shared/terminal.ts";
import { type TwinsDescription, twinsDescription } from "./shared/twins-description.ts";

const ENVIRONMENT_FILE = ".env";
/** A restarted agent drains its calls for a short time only, unless configured otherwise. */
const DEV_DRAIN_TIMEOUT_MS = 1_000;
/** Twins end within 7.5 s. */
const TWINS_STOP_TIMEOUT_MS = 8_000;
/** After its drain time the agent takes up to 5 s to close the sockets of its calls and 10 s to end them at the runtime. */
const AGENT_STOP_TIMEOUT_MS = 17_000;
const REAL_RUNTIME = "https://api.vapi.ai";

const USAGE = `npm run dev      twins and agent, each restarted when its files change, until Ctrl-C

It takes no options. Variables of .env and of the surroundings reach both: .env.example explains the agent's,
twins/README.md those of the twins. With VAPI_API_KEY set the agent calls the real runtime, or VOICE_API_URL's.`;

type PartName = "twins" | "agent";

/** The state of a part beside its process. */
interface PartRecord {
  part: Part;
  backOff: BackOff;
  /** `performance.now()` of its start; `undefined` while it does not serve. */
  servesSince: number | undefined;
  /** The restart of a part that ended by itself; cleared when it serves. */
  pending: NodeJS.Timeout | undefined;
}

rejectArguments();
if (existsSync(ENVIRONMENT_FILE)) process.loadEnvFile(ENVIRONMENT_FILE);
const terminal = terminalOf(process.stdout);
const apiKey = process.env.SANDBOX_API_KEY || makeApiKey();
/** With their own key, users want the real runtime, or the one they name. */
const ownRuntime = (process.env.VAPI_API_KEY ?? "") !== "";
/** The addresses of the running twins. */
let addresses: TwinsDescription | undefined;
/** Their state when they started to serve. */
let twinsAtStart: Promise<TwinsState | undefined> | undefined;
let agentUrl: string | undefined;
/** The addresses printed last; a restart that changes none prints nothing. Each start of the twins has its own console link. */
let printedAddresses = "";
let everServed = false;
let stopping = false;
let state: DevState = { state: "starting", reason: "the twins and the agent start" };

const twins = createRecord(
  new Part({
    name: "twins",
    file: "twins/main.ts",
    args: ["--json"],
    stopTimeoutMs: TWINS_STOP_TIMEOUT_MS,
    onLine: (line, stream) => {
      const ready = stream === "stdout" ? readAddresses(line) : undefined;
      if (ready === undefined) say("twins", line);
      else onTwinsReady(ready);
    },
    onExit: (how) => handleExit("twins", how),
  }),
);
const agent = createRecord(
  new Part({
    name: "agent",
    file: "agent/main.ts",
    stopTimeoutMs: (Number(process.env.DRAIN_TIMEOUT_MS) || DEV_DRAIN_TIMEOUT_MS) + AGENT_STOP_TIMEOUT_MS,
    onLine: (line) => {
      say("agent", line);
      const url = readLogLine(line)?.url;
      if (agent.servesSince === undefined && typeof url === "string") onAgentReady(url);
    },
    onExit: (how) => handleExit("agent", how),
  }),
);
const parts: Record<PartName, PartRecord> = { twins, agent };

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stopAll(0));
onReaderGone(() => void stopAll(0));
onNpmGone(() => void stopAll(0));
await requireOwnFolder().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
publishState(state);
say("dev", "the twins and the agent start");
startTwins();
const watching = new FolderWatch({
  root: PROJECT,
  folders: ["agent", "tools", "twins", "samples/scenarios"],
  isWatched: (file) => isAgentFile(file) || isTwinsFile(file) || isScenario(file),
  onChange: () => writeDevState({ ...state, state: "starting", reason: "files are being changed" }),
  onSettled: handleChanges,
});

/** Prints the usage and exits if there are any arguments. */
function rejectArguments(): void {
  const [argument] = process.argv.slice(2);
  if (argument === undefined) return;
  const isHelp = argument === "--help" || argument === "-h";
  if (isHelp) console.log(USAGE);
  else console.error(`npm run dev does not know ${argument}\n\n${USAGE}`);
  process.exit(isHelp ? 0 : 2);
}

function createRecord(part: Part): PartRecord {
  return { part, backOff: new BackOff(), servesSince: undefined, pending: undefined };
}

function startTwins(): void {
  twins.part.start({ ...process.env, SANDBOX_API_KEY: apiKey });
}

/** The twins serve: starts the agent with their addresses. */
function onTwinsReady(ready: TwinsDescription): void {
  addresses = ready;
  everServed = true;
  markServing(twins);
  twinsAtStart = readTwinsState(ready);
  enqueue(async () => {
    await stopPart(agent);
    if (addresses === ready) agent.part.start(agentEnvironment(ready));
  });
}

function onAgentReady(url: string): void {
  agentUrl = url;
  markServing(agent);
  printAddresses();
  if (twins.servesSince !== undefined) publishState({ state: "ready", reason: "" });
}

function agentEnvironment(ready: TwinsDescription): Record<string, string | undefined> {
  const { VAPI_API_KEY, VOICE_API_URL, ...others } = clientEnvironment(ready);
  const runtime = ownRuntime ? {} : { VAPI_API_KEY, VOICE_API_URL };
  return {
    DRAIN_TIMEOUT_MS: `${DEV_DRAIN_TIMEOUT_MS}`,
    // The environment file's variables for the agent; the user's own take precedence.
    ...ready.agent_environment,
    ...process.env,
    ...others,
    ...runtime,
    // The user's own database wins over the twins'.
    ...(process.env.DATABASE_URL ? { DATABASE_URL: process.env.DATABASE_URL } : {}),
  };
}

let work: Promise<void> = Promise.resolve();

/** Runs starts and stops one at a time. */
function enqueue(step: () => Promise<void>): void {
  work = work.then(async () => {
    if (!stopping) await step();
  });
}

/** Restarts the part to which the changed files belong; the agent follows the twins, on which it depends. */
function handleChanges(files: string[]): void {
  const scenario = files.find(isScenario);
  if (scenario !== undefined) say("dev", `${scenario} changed: the next call has it, nothing is restarted`);
  const name = files.some(isTwinsFile) ? "twins" : files.some(isAgentFile) ? "agent" : undefined;
  if (name === undefined) {
    publishState(state);
    return;
  }
  const [first = ""] = files.filter(name === "twins" ? isTwinsFile : isAgentFile);
  publishState({
    state: "starting",
    reason: `the ${name} restart${name === "agent" ? "s" : ""}: ${first} changed`,
  });
  for (const record of Object.values(parts)) {
    record.backOff.reset();
    cancelStart(record);
  }
  enqueue(() => restart(name, first));
}

async function restart(name: PartName, file: string): Promise<void> {
  say(name, `${file} changed: restarting`);
  if (name === "twins") await reportLosses();
  await stopPart(agent);
  if (name === "agent" && twins.part.running) {
    // Twins that are still starting start the agent when they serve.
    if (addresses !== undefined) agent.part.start(agentEnvironment(addresses));
    return;
  }
  await stopPart(twins);
  startTwins();
}

async function reportLosses(): Promise<void> {
  if (addresses === undefined) return;
  const lost = describeLosses(await twinsAtStart, await readTwinsState(addresses));
  if (lost !== undefined) say("twins", terminal.tool(`lost with the restart: ${lost}`));
}

async function stopPart(record: PartRecord): Promise<void> {
  markStopped(record);
  await record.part.stop();
}

function markServing(record: PartRecord): void {
  record.servesSince = performance.now();
  record.pending = undefined;
}

function cancelStart(record: PartRecord): void {
  clearTimeout(record.pending);
  record.pending = undefined;
}

/** Records that the part no longer serves. */
function markStopped(record: PartRecord): void {
  record.servesSince = undefined;
  if (record === twins) addresses = undefined;
}

/** Restarts a part that had served, with back-off; one that never served waits for its files to change. */
function handleExit(name: PartName, how: string): void {
  if (stopping) return;
  const record = parts[name];
  const { servesSince, pending, backOff } = record;
  markStopped(record);
  if (!everServed) {
    // Nothing has served yet, so there is nothing to keep alive.
    void stopAll(1);
    return;
  }
  const again = servesSince !== undefined || pending !== undefined;
  const delayMs = again ? backOff.next(performance.now() - (servesSince ?? performance.now())) : undefined;
  if (delayMs === undefined) {
    record.pending = undefined;
    say(name, terminal.bad(`ended (${how}); it is started again when one of its files changes`));
    publishState({ state: "down", reason: `the ${name} ended (${how})` });
    return;
  }
  const lost = name === "twins" ? `; lost: ${describeLosses(undefined, undefined)}` : "";
  say(name, terminal.bad(`ended (${how}); starting again in ${delayMs / 1000} s${lost}`));
  publishState({ state: "starting", reason: `the ${name} ended (${how}) and started again` });
  record.pending = setTimeout(() => enqueue(() => startAgain(name)), delayMs);
}

async function startAgain(name: PartName): Promise<void> {
  if (parts[name].part.running) return;
  if (name === "twins") startTwins();
  // Without twins, they start the agent once they serve.
  else if (addresses !== undefined) agent.part.start(agentEnvironment(addresses));
}

async function stopAll(exitCode: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  watching.close();
  for (const record of Object.values(parts)) cancelStart(record);
  await work;
  // The agent first, so that it can end its calls at the runtime.
  await agent.part.stop();
  await twins.part.stop();
  removeDevState();
  process.exit(exitCode);
}

/** Publishes the state for `npm run dial`. */
function publishState(now: DevState): void {
  state = { ...now, ...(agentUrl === undefined ? {} : { agent_url: agentUrl }) };
  writeDevState(state);
}

function printAddresses(): void {
  const current = JSON.stringify([addresses, agentUrl]);
  if (addresses === undefined || agentUrl === undefined || current === printedAddresses) return;
  printedAddresses = current;
  const { bold, dim, line, wrap } = terminal;
  const voice = `${agentUrl.replace(/^http/, "ws")}/voice`;
  const shown = addresses.sandboxes.flatMap((sandbox) => sandbox.twins);
  const columns = Math.max(...["runtime", ...shown.map(({ name }) => name)].map(({ length }) => length)) + 1;
  const indent = " ".repeat(columns);
  const row = (name: string, text: string) => wrap(text, { head: bold(name.padEnd(columns)), indent });
  line();
  row("agent", `${agentUrl} callers: ${voice}`);
  row("twins", `${addresses.base_url} API key: ${addresses.api_key}`);
  // On one line, so that terminals make a link of it.
  const { console_url: link } = addresses;
  if (link !== undefined) line(`${bold("console".padEnd(columns))}${link}`);
  for (const { name, url, control_url } of shown) row(name, `${url} control: ${control_url}`);
  if (ownRuntime) {
    row("runtime", `${process.env.VOICE_API_URL || REAL_RUNTIME}, with your VAPI_API_KEY: calls cost money`);
  }
  line();
  line(`call it, in another terminal:  ${bold("npm run dial")}`);
  // On one line, for copying.
  line(
    dim(
      `from elsewhere:  npm run dial -- --url ${voice} --twins ${addresses.base_url} --key ${addresses.api_key}`,
    ),
  );
  wrap(
    "a change in agent/ or tools/ restarts the agent, one in twins/ the twins; scenarios and web pages need no restart",
    {
      style: dim,
    },
  );
  line();
}

function readAddresses(line: string): TwinsDescription | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return twinsDescription.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function isAgentFile(file: string): boolean {
  return /^(agent|tools)\/.*\.ts$/.test(file);
}

/** Excludes the caller, which the running twins do not load, and what runs in browsers, which they bundle when it is asked for. */
function isTwinsFile(file: string): boolean {
  return /^twins\/.*\.(ts|mjs|cjs|sql|yaml)$/.test(file) && !/^twins\/(caller|[^/]+\/page)\//.test(file);
}

function isScenario(file: string): boolean {
  return /^samples\/scenarios\/.*\.yaml$/.test(file);
}

function say(part: string, line: string): void {
  printLine(part, line, terminal);
}
