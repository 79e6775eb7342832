/** What the agent reads from its environment: every variable, its meaning, its default. */
import { z } from "zod";

const port = z.coerce.number().int().min(0).max(65_535);
const milliseconds = z.coerce.number().int().min(1).max(3_600_000);
const count = z.coerce.number().int().min(1).max(100_000);
const httpUrl = z
  .url({ protocol: /^https?$/, error: "must be an http:// or https:// address" })
  .transform((url) => url.replace(/\/+$/, ""));

/** A simulation's id: it becomes one path segment of the engine's address. */
export const simulationIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9._:~-]{1,128}$/, "must be 1 to 128 letters, digits or . _ : ~ -");

/** The names of the log levels, quietest last. */
const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const environmentSchema = z.object({
  /** Port the agent listens on; 0 takes a free one. */
  PORT: port.default(8008),
  /** Address the agent binds to. Anything but loopback makes it reachable from outside. */
  HOST: z.string().default("127.0.0.1"),
  /** Private key of the voice runtime's account. */
  VAPI_API_KEY: z.string({ error: "is required: the private API key of the voice runtime" }),
  /** Base address of the voice runtime; a twin's address for work offline. */
  VOICE_API_URL: httpUrl.default("https://api.vapi.ai"),
  /** Base address of the simulation engine. */
  ENGINE_URL: httpUrl.default("http://localhost:6100"),
  /** Simulation the tool calls are reported to; reporting is off without one. `X-Simulation-Id` on `/voice` wins over it. */
  SIMULATION_ID: simulationIdSchema.optional(),
  /** Public address of this agent, as the runtime reaches it. Without it a tunnel is opened on the first call. */
  PUBLIC_BASE_URL: httpUrl.optional(),
  /** Connection string of the agent's own database, for the tools. */
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// connection string" })
    .optional(),
  /** Opens the tunnel with ngrok instead of localtunnel; needs the optional package `@ngrok/ngrok`. */
  NGROK_AUTHTOKEN: z.string().optional(),
  /** Server of the localtunnel service. */
  LOCALTUNNEL_HOST: httpUrl.default("https://localtunnel.me"),
  /** Shared secret of `/voice` (`Authorization: Bearer …` or `?token=…`); open to all who reach it when unset. */
  VOICE_TOKEN: z.string().min(8, "must have at least 8 characters").optional(),
  /** Secret the runtime sends with each tool call; made at start when unset. Set it when several agents share one address. */
  TOOL_SECRET: z.string().min(16, "must have at least 16 characters").optional(),
  /** Calls at once; one more gets 503. */
  MAX_CALLS: count.default(500),
  /** Folder for recordings (stereo WAV and timeline of each call); nothing is recorded when unset. */
  RECORD_DIR: z.string().optional(),
  /** Longest wait for the runtime to create a call. */
  CREATE_TIMEOUT_MS: milliseconds.default(30_000),
  /** Longest wait for the call socket to open. */
  DIAL_TIMEOUT_MS: milliseconds.default(10_000),
  /** Longest run of a tool that names no limit of its own; keep it below the runtime's 20 s. */
  TOOL_TIMEOUT_MS: milliseconds.default(15_000),
  /** How long running calls may go on after SIGTERM. */
  DRAIN_TIMEOUT_MS: z.coerce.number().int().min(0).max(3_600_000).default(30_000),
  /** Interval of the pings by which a vanished peer is noticed; it is given up after two of them. */
  HEARTBEAT_MS: milliseconds.default(15_000),
  LOG_LEVEL: z.enum(logLevels).default("info"),
  /** `production` keeps the agent from writing its address to `.offhook/agent.json`. */
  NODE_ENV: z.string().optional(),
});

/** The names of the variables, for `.env.example` and its test. */
export const environmentVariables: readonly string[] = Object.keys(environmentSchema.shape);

/** The agent's configuration; durations in milliseconds, addresses without a slash at the end. */
export interface Config {
  port: number;
  host: string;
  voiceApiKey: string;
  voiceApiUrl: string;
  engineUrl: string;
  simulationId: string | undefined;
  publicBaseUrl: string | undefined;
  databaseUrl: string | undefined;
  ngrokAuthtoken: string | undefined;
  localtunnelHost: string;
  voiceToken: string | undefined;
  toolSecret: string | undefined;
  maxCalls: number;
  recordDir: string | undefined;
  createTimeoutMs: number;
  dialTimeoutMs: number;
  toolTimeoutMs: number;
  drainTimeoutMs: number;
  heartbeatMs: number;
  logLevel: (typeof logLevels)[number];
  production: boolean;
}

/** The environment does not make a configuration; the message lists every problem, one a line. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/**
 * Reads the agent's configuration from environment variables; an empty variable counts as unset.
 * @throws ConfigError naming every variable that is missing or wrong, never its value
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const present = Object.fromEntries(
    environmentVariables.flatMap((name) => {
      const value = env[name]?.trim();
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
  const parsed = environmentSchema.safeParse(present);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join(".")} ${issue.message}`);
    throw new ConfigError(
      `The environment is not complete:\n${problems.join("\n")}\nEvery variable is explained in .env.example.`,
    );
  }
  const values = parsed.data;
  return {
    port: values.PORT,
    host: values.HOST,
    voiceApiKey: values.VAPI_API_KEY,
    voiceApiUrl: values.VOICE_API_URL,
    engineUrl: values.ENGINE_URL,
    simulationId: values.SIMULATION_ID,
    publicBaseUrl: values.PUBLIC_BASE_URL,
    databaseUrl: values.DATABASE_URL,
    ngrokAuthtoken: values.NGROK_AUTHTOKEN,
    localtunnelHost: values.LOCALTUNNEL_HOST,
    voiceToken: values.VOICE_TOKEN,
    toolSecret: values.TOOL_SECRET,
    maxCalls: values.MAX_CALLS,
    recordDir: values.RECORD_DIR,
    createTimeoutMs: values.CREATE_TIMEOUT_MS,
    dialTimeoutMs: values.DIAL_TIMEOUT_MS,
    toolTimeoutMs: values.TOOL_TIMEOUT_MS,
    drainTimeoutMs: values.DRAIN_TIMEOUT_MS,
    heartbeatMs: values.HEARTBEAT_MS,
    logLevel: values.LOG_LEVEL,
    production: values.NODE_ENV === "production",
  };
}

/** Whether an address is on this machine, so that what answers there can call back without a tunnel. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    hostname.startsWith("127.")
  );
}
