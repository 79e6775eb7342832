/** `npm run mcp`: an MCP server on standard input and output, for coding agents. `USAGE` says how. */
import { existsSync } from "node:fs";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { type Callee, createProjectServer } from "@offhook/mcp";
import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { onNpmGone, onReaderGone } from "@offhook/platform/server/end-with-caller";
import { TelemetryError } from "@offhook/platform/telemetry/start";
import { z } from "zod";
import { calleeOf, sandboxOf, voiceHeaders } from "./shared/callee.ts";
import { waitForDev } from "./shared/dev-state.ts";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "./shared/folders.ts";
import { locateAgent } from "./shared/locator.ts";
import { startCallerTelemetry } from "./shared/telemetry.ts";

const ENVIRONMENT_FILE = ".env";
/** Time in which a server that ends takes back what a running scenario gave to the twins. */
const CLOSE_MS = 3_000;

const USAGE = `npm run mcp     an MCP server on standard input and output, for coding agents

  --url URL      the agent; default: VOICE_URL, the one that runs here, the channel of the twins' environment file
  --twins URL    the twins behind the agent; default: those that run here, TWINS_URL
  --key KEY      key of their control plane; default: theirs, SANDBOX_API_KEY
  --sandbox ID   default: dev
  --help

A coding agent starts it, as npm run --silent mcp: without --silent npm's own lines come before the protocol's.
twins/mcp/README.md has the settings of several.`;

const options = {
  url: { type: "string" },
  twins: { type: "string" },
  key: { type: "string" },
  sandbox: { type: "string" },
} as const;

const valuesSchema = z.object({
  url: z.string().optional(),
  twins: z.url({ protocol: /^https?$/, error: "must be an http:// address" }).optional(),
  key: z.string().min(1).optional(),
  sandbox: z.string().min(1).optional(),
});
type Values = z.output<typeof valuesSchema>;

try {
  if (existsSync(ENVIRONMENT_FILE)) process.loadEnvFile(ENVIRONMENT_FILE);
  const given = readArguments(USAGE, options);
  if (given === undefined) console.log(USAGE);
  else await serve(readValues(given.values));
} catch (error) {
  console.error(error instanceof UsageError || error instanceof TelemetryError ? error.message : error);
  process.exitCode = 2;
}

function readValues(values: unknown): Values {
  const parsed = valuesSchema.safeParse(values);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `--${path.join(".")}: ${message}`);
  throw new UsageError(`${problems.join("\n")}\n\n${USAGE}`);
}

async function serve(values: Values): Promise<void> {
  const telemetry = await startCallerTelemetry();
  const { server, close } = createProjectServer({
    scenariosFolder: SCENARIOS_FOLDER,
    samplesFolder: SAMPLES_FOLDER,
    telemetry,
    locateTwins: () => {
      const { TWINS_URL, SANDBOX_API_KEY } = process.env;
      const address = sandboxOf(values.twins ?? TWINS_URL, values.key ?? SANDBOX_API_KEY);
      return address && { ...address, ...(values.sandbox === undefined ? {} : { sandbox: values.sandbox }) };
    },
    locateAgent: async (onWait): Promise<Callee> => {
      const named = values.url ?? process.env.VOICE_URL;
      await waitForDev(named, onWait);
      return { ...calleeOf(named ?? locateAgent()?.url, undefined), headers: voiceHeaders(process.env) };
    },
  });
  let ending = false;
  const end = () => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(0), CLOSE_MS);
    void Promise.all([close(), telemetry.stop()])
      .catch(() => undefined)
      .finally(() => process.exit(0));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
  onReaderGone(end);
  onNpmGone(end);
  // A client that leaves closes standard input; the transport does not listen for that.
  process.stdin.once("end", end);
  await server.connect(new StdioServerTransport());
}
