/**
 * Starts the agent. SIGTERM or SIGINT lets it finish its calls, a second one ends them; the rest is bounded in
 * time. An exception that no code caught stops the agent like a signal, so that its calls end properly, with exit status
 * 1; a rejection that no code caught has interrupted nothing, and is logged.
 */
import { existsSync } from "node:fs";
import { ToolLoadError } from "../tools/registry.ts";
import { type Config, ConfigError, environmentVariables, readConfig } from "./config.ts";
import { writeLocator } from "./locator.ts";
import { flushLog, messageOf } from "./log.ts";
import { type AgentProcess, startAgent } from "./server.ts";
import { type ObservedProcess, observeProcess } from "./telemetry/observe-process.ts";

const MAX_LINE_CHARS = 76;

const USAGE = `npm run agent      the agent, from source; npm run build && npm start run it in production

It takes no options: its settings are variables, of the environment or of .env. .env.example explains each:
${linesOf(environmentVariables)}`;

const ENVIRONMENT_FILE = ".env";
/** Ctrl-C reaches the whole process group, and npm forwards it too: a second signal within this time is the same one. */
const SAME_SIGNAL_MS = 500;

/** Joins names with commas into lines that fit most terminals. */
function linesOf(names: readonly string[]): string {
  const lines: string[] = [];
  for (const name of names) {
    const last = lines.at(-1);
    if (last === undefined || last.length + name.length > MAX_LINE_CHARS) lines.push(`  ${name}`);
    else lines[lines.length - 1] = `${last}, ${name}`;
  }
  return lines.join(",\n");
}

/** Starts the agent as one process, or as several. */
async function start(config: Config, observed: ObservedProcess): Promise<AgentProcess> {
  if (config.workers === 1) return startAgent(config, { ...observed, environment: process.env });
  const { startWorkers } = await import("./workers/pool.ts");
  return startWorkers(config, observed);
}

async function main(): Promise<void> {
  if (existsSync(ENVIRONMENT_FILE)) process.loadEnvFile(ENVIRONMENT_FILE);
  const config = readConfig(process.env);
  const observed = await observeProcess(config.logLevel);
  const { log } = observed;
  const agent = await start(config, observed);
  const removeLocator = config.production ? undefined : await writeLocator(agent.url, log);

  let exitCode = 0;
  let stopsSince: number | undefined;
  let isHurried = false;
  async function stop(cause: string): Promise<void> {
    stopsSince = performance.now();
    log.info({ cause, calls: agent.activeCalls }, "agent stops: running calls may finish");
    // First of all /readyz fails.
    const stopped = agent.stop();
    await removeLocator?.();
    await stopped;
    await observed.telemetry.stop();
    log.info("agent stopped");
    await flushLog(log);
    process.exit(agent.hasFailed ? 1 : exitCode);
  }
  function receive(signal: NodeJS.Signals): void {
    if (stopsSince === undefined) {
      void stop(signal);
    } else if (!isHurried && performance.now() - stopsSince > SAME_SIGNAL_MS) {
      isHurried = true;
      log.warn({ cause: signal, calls: agent.activeCalls }, "running calls are ended at once");
      agent.endCalls();
    }
  }
  process.on("unhandledRejection", (reason) => agent.strayError("rejection", reason));
  process.on("uncaughtException", (error) => {
    agent.strayError("exception", error);
    exitCode = 1;
    if (stopsSince === undefined) void stop("uncaught exception");
  });
  process.on("SIGTERM", receive);
  process.on("SIGINT", receive);
  // Last, because a reader of this line may send a signal at once.
  log.info({ url: agent.url, runtime: config.voiceApiUrl }, `agent listens on ${agent.url}`);
}

const [argument] = process.argv.slice(2);
try {
  if (argument === "--help" || argument === "-h") console.log(USAGE);
  else if (argument === undefined) await main();
  else throw new ConfigError(`the agent does not know ${argument}\n\n${USAGE}`);
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof ToolLoadError;
  console.error(expected || !(error instanceof Error) ? messageOf(error) : error.stack);
  process.exit(1);
}
