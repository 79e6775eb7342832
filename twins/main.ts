/** `npm run twins -- [--environment FILE] [--json]`: the twins alone, until Ctrl-C. */
import { parseArgs } from "node:util";
import { pino } from "pino";
import { z } from "zod";
import { writeLocator } from "./sandbox/locator.ts";
import { type RunningTwins, startTwins } from "./sandbox/start.ts";

const variables = z.object({
  /** Port of the gateway; 0 takes a free one. */
  TWINS_PORT: z.coerce.number("must be a port").int().min(0).max(65_535).default(6100),
  /** Address the gateway listens on. */
  TWINS_HOST: z.string().min(1).default("127.0.0.1"),
  /** Key of the control plane; made and printed when unset. */
  SANDBOX_API_KEY: z.string().min(8).optional(),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
});

const usage = "usage: npm run twins -- [--environment FILE] [--json]";

async function main(): Promise<void> {
  const { environment, json } = readArguments();
  const settings = readVariables();
  const twins = await startTwins({
    port: settings.TWINS_PORT,
    host: settings.TWINS_HOST,
    // Standard output is for addresses; the log goes beside it.
    log: pino({ level: settings.LOG_LEVEL }, pino.destination(2)),
    ...(environment === undefined ? {} : { environmentFile: environment }),
    ...(settings.SANDBOX_API_KEY === undefined ? {} : { apiKey: settings.SANDBOX_API_KEY }),
  });
  const forget = await writeLocator("twins", { base_url: twins.baseUrl, api_key: twins.apiKey }).catch(
    async (error: unknown) => {
      await twins.stop();
      throw error;
    },
  );
  const stop = () => {
    Promise.all([twins.stop(), forget()]).then(() => process.exit(0), fail);
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  // Last: whoever reads the addresses may stop it at once.
  process.stdout.write(json ? `${asJson(twins)}\n` : asText(twins));
}

function readArguments() {
  try {
    const options = { environment: { type: "string" }, json: { type: "boolean", default: false } } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

function readVariables() {
  const reading = variables.safeParse(process.env);
  if (reading.success) return reading.data;
  throw new Error(
    reading.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("\n"),
  );
}

function asJson(twins: RunningTwins): string {
  return JSON.stringify({ base_url: twins.baseUrl, api_key: twins.apiKey, sandboxes: twins.sandboxes });
}

function asText(twins: RunningTwins): string {
  const lines = [
    `gateway and engine  ${twins.baseUrl}`,
    `API key             ${twins.apiKey}  (header X-API-Key)`,
  ];
  for (const sandbox of twins.sandboxes) {
    lines.push("", `sandbox ${sandbox.id}`);
    for (const twin of sandbox.twins) {
      lines.push(`  ${twin.name}`, `    url          ${twin.url}`, `    control_url  ${twin.control_url}`);
      for (const [name, value] of Object.entries(twin.environment)) lines.push(`    ${name}=${value}`);
    }
  }
  return `${lines.join("\n")}\n\nCtrl-C stops them.\n`;
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

main().catch(fail);
