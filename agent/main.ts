/** Starts the agent; SIGTERM or SIGINT lets it finish its calls, a second one ends it at once. */
import { existsSync } from "node:fs";
import { ToolLoadError } from "../tools/registry.ts";
import { ConfigError, readConfig } from "./config.ts";
import { writeLocator } from "./locator.ts";
import { createLog, messageOf } from "./log.ts";
import { startAgent } from "./server.ts";

const ENVIRONMENT_FILE = ".env";

async function main(): Promise<void> {
  if (existsSync(ENVIRONMENT_FILE)) process.loadEnvFile(ENVIRONMENT_FILE);
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const agent = await startAgent(config, { log, environment: process.env });
  const removeLocator = config.production ? undefined : await writeLocator(agent.url);

  let stopping = false;
  async function stop(signal: string): Promise<void> {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal, calls: agent.activeCalls }, "agent stops: no new calls, running ones may finish");
    await removeLocator?.();
    await agent.stop();
    log.info("agent stopped");
    process.exit(0);
  }
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
  // Last: whoever reads this line may already send a signal.
  log.info({ url: agent.url, runtime: config.voiceApiUrl }, `agent listens on ${agent.url}`);
}

try {
  await main();
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof ToolLoadError;
  console.error(expected || !(error instanceof Error) ? messageOf(error) : error.stack);
  process.exit(1);
}
