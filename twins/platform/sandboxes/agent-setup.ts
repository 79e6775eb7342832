/** The program under test: its variables, and how a caller reaches it, by the environment file and while it runs. */
import { z } from "zod";

/** A channel through which the simulated caller reaches the agent. */
const channel = z.strictObject({
  type: z.literal("voice_ws", "must be voice_ws"),
  /** Where the agent takes callers, such as `ws://127.0.0.1:8008/voice`. */
  url: z.url({ protocol: /^wss?$/, error: "must be a ws:// or wss:// address" }),
  /** `binary`: bare PCM16; `json`: audio in JSON envelopes. */
  protocol: z.enum(["binary", "json"]).default("binary"),
  /** A language tag, such as en or en-GB. */
  language: z.string().min(1).default("en"),
  /** Whether the caller waits until the agent has spoken. */
  wait_for_callee_first: z.boolean().default(false),
});

export const actorSchema = z.strictObject({ channels: z.array(channel).default([]) });

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");

export const agentSchema = z.strictObject({
  port: z.int("must be a port").min(1).max(65_535).optional(),
  /** Numbers and booleans become text, like every environment variable. */
  environment: z
    .record(variableName, z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .default({}),
});

export type ActorSetup = z.output<typeof actorSchema>;
export type AgentSetup = z.output<typeof agentSchema>;

type Channel = ActorSetup["channels"][number];

/** A voice channel of an agent that runs. */
export type RunningChannel = Pick<Channel, "type" | "url" | "protocol"> & Partial<Channel>;

/** A voice channel with where it is known from. */
type KnownChannel = RunningChannel & { source: "environment" | "running" };

/** Finds the voice channels there are at the moment. */
export type FindChannels = () => Promise<KnownChannel[]>;

/**
 * Joins the environment file's channels and those of agents that run.
 * @param findRunning asked each time
 */
export function channelFinder(
  { channels }: ActorSetup,
  findRunning: () => Promise<readonly RunningChannel[]>,
): FindChannels {
  return async () => {
    const running = await findRunning();
    return [
      ...channels.map((channel) => ({ ...channel, source: "environment" as const })),
      ...running.map((channel) => ({ ...channel, source: "running" as const })),
    ];
  };
}

const PLACEHOLDER = "{SIMULATION_ID}";

/**
 * The agent's variables for one simulation: `${SIMULATION_ID}` and `{SIMULATION_ID}` in a value become its id.
 * @param simulationId empty outside a simulation; the agent then reports nothing
 */
export function agentEnvironment(agent: AgentSetup, simulationId: string): Record<string, string> {
  const fill = (value: string) =>
    value.replaceAll(`$${PLACEHOLDER}`, () => simulationId).replaceAll(PLACEHOLDER, () => simulationId);
  const filled = Object.entries(agent.environment).map(([name, value]) => [name, fill(value)]);
  const port = agent.port === undefined ? {} : { PORT: String(agent.port) };
  return { ...port, ...Object.fromEntries(filled) };
}
