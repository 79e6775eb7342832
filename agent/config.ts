/** What the agent reads from its environment: every variable, its meaning, its default. */
import { z } from "zod";
import { hostnameOf, hostnameOfUrl, isLoopbackHost, parseUrl } from "./host-names.ts";

const port = wholeNumber(0, 65_535);
const milliseconds = wholeNumber(1, 3_600_000);
const count = wholeNumber(1, 100_000);
const httpUrl = z
  .url({
    protocol: /^https?$/,
    error: "must be an address that begins with http:// or https://",
    abort: true,
  })
  .refine((url) => new URL(url).username === "" && new URL(url).password === "", {
    error: "must not carry a user name or a password",
  })
  .transform((url) => url.replace(/(?<!\/)\/+$/, ""));

function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(error).int(error).min(min, error).max(max, error);
}

/** A list in one variable, separated by commas or spaces. */
function listOf(isItem: (text: string) => boolean, error: string) {
  return z
    .string()
    .toLowerCase()
    .transform((text) => text.split(/[\s,]+/).filter((one) => one !== ""))
    .refine((items) => items.every(isItem), { error });
}

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
  /** Simulation the tool calls are reported to; reporting is off without one. The one that a caller of `/voice` names wins over it. */
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
  /** Names besides its own that the agent is reached by, in `Host`; `*.example.com` is every name below, `.example.com` that name too. */
  ALLOWED_HOSTS: listOf(
    isHostPattern,
    "must be host names such as agent or *.example.com, separated by commas, without scheme and port",
  ).default([]),
  /** Origins of web pages, besides this machine's and the agent's own, that may use the agent; `*` for all, `null` as it is. */
  ALLOWED_ORIGINS: listOf(
    (text) => text === "*" || text === "null" || isOrigin(text),
    "must be origins as browsers send them, such as https://app.example.com or http://localhost:3000, separated by commas: without a path, the scheme's own port, or a * in them; or * alone",
  ).default([]),
  /** Processes that share the agent's address and its calls, to use a machine's cores; 1 is a single process. */
  AGENT_WORKERS: wholeNumber(1, 64).default(1),
  /** Maximum calls, of all processes of the agent together; further callers get 503. */
  MAX_CALLS: count.default(500),
  /** Longest call; above what the assistant allows the runtime (`maxDurationSeconds`), which ends it with its own reason. */
  MAX_CALL_MS: wholeNumber(1, 43_200_000).default(900_000),
  /** Longest silence of both sides; above the runtime's own limit for the caller's (`silenceTimeoutSeconds`). */
  MAX_SILENCE_MS: milliseconds.default(60_000),
  /** Folder for recordings (stereo WAV and timeline of each call); nothing is recorded when unset. */
  RECORD_DIR: z.string().optional(),
  /** Longest wait for the runtime to create a call. */
  CREATE_TIMEOUT_MS: milliseconds.default(30_000),
  /** Longest wait for the call socket to open. */
  DIAL_TIMEOUT_MS: milliseconds.default(10_000),
  /** Time limit of a tool that declares none; keep it below the runtime's 20 s. */
  TOOL_TIMEOUT_MS: milliseconds.default(15_000),
  /** Maximum events to the engine in progress; further ones are lost. */
  MAX_EVENTS_IN_FLIGHT: count.default(256),
  /** Time that running calls have to finish after SIGTERM. */
  DRAIN_TIMEOUT_MS: wholeNumber(0, 3_600_000).default(30_000),
  /**
   * How long `/readyz` answers 503 while the agent still takes calls, and listens even without one: a load balancer has to
   * see it. Not longer than the drain time.
   * Default: 5000 in production, 0 elsewhere.
   */
  SHUTDOWN_DELAY_MS: wholeNumber(0, 3_600_000).optional(),
  /** Interval of the pings by which a vanished peer is noticed; it is given up after two of them. */
  HEARTBEAT_MS: milliseconds.default(15_000),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(", ")}`).default("info"),
  /** `production` keeps the agent from writing its address to `.offhook/agent.json`, and delays its shutdown. */
  NODE_ENV: z.string().optional(),
});

/** Time for a load balancer that asks every second or two to see `/readyz` fail. */
const PRODUCTION_SHUTDOWN_DELAY_MS = 5_000;

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
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
  workers: number;
  maxCalls: number;
  maxCallMs: number;
  maxSilenceMs: number;
  recordDir: string | undefined;
  createTimeoutMs: number;
  dialTimeoutMs: number;
  toolTimeoutMs: number;
  maxEventsInFlight: number;
  drainTimeoutMs: number;
  shutdownDelayMs: number;
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
  const production = values.NODE_ENV === "production";
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
    allowedHosts: values.ALLOWED_HOSTS,
    allowedOrigins: values.ALLOWED_ORIGINS,
    workers: values.AGENT_WORKERS,
    maxCalls: values.MAX_CALLS,
    maxCallMs: values.MAX_CALL_MS,
    maxSilenceMs: values.MAX_SILENCE_MS,
    recordDir: values.RECORD_DIR,
    createTimeoutMs: values.CREATE_TIMEOUT_MS,
    dialTimeoutMs: values.DIAL_TIMEOUT_MS,
    toolTimeoutMs: values.TOOL_TIMEOUT_MS,
    maxEventsInFlight: values.MAX_EVENTS_IN_FLIGHT,
    drainTimeoutMs: values.DRAIN_TIMEOUT_MS,
    shutdownDelayMs: values.SHUTDOWN_DELAY_MS ?? (production ? PRODUCTION_SHUTDOWN_DELAY_MS : 0),
    heartbeatMs: values.HEARTBEAT_MS,
    logLevel: values.LOG_LEVEL,
    production,
  };
}

/** Whether an address is on this machine, so that what answers there can call back without a tunnel. */
export function isLoopback(url: string): boolean {
  return isLoopbackHost(hostnameOfUrl(new URL(url)));
}

/** A host name, `*.` and one for every name below it, `.` and one for both, or `*`. */
function isHostPattern(text: string): boolean {
  const name = text.replace(/^\*?\./, "");
  return text === "*" || (!name.includes("*") && hostnameOf(name) === name);
}

/** An origin as browsers write it: scheme, host and, where it is not the scheme's own, port. */
function isOrigin(text: string): boolean {
  const url = parseUrl(text);
  return (
    url !== undefined && url.host !== "" && !url.host.includes("*") && text === `${url.protocol}//${url.host}`
  );
}

/** Why the agent cannot listen where its configuration says, and what to do about it. */
export function explainListenError(error: NodeJS.ErrnoException, { port, host }: Config): Error {
  switch (error.code) {
    case "EADDRINUSE":
      return new ConfigError(
        `port ${port} on ${host} is in use, perhaps by an agent that runs already; stop that one, or set PORT to another port (0 takes a free one)`,
      );
    case "EACCES":
      return new ConfigError(`port ${port} on ${host} needs privileges; set PORT to one above 1023`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ConfigError(`${host} is no address of this machine; set HOST to one that is (127.0.0.1)`);
    default:
      return error;
  }
}
