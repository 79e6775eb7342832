/** What the processes of one agent say to one another. */
import type { Socket } from "node:net";
import { z } from "zod";
import type { OpenCalls } from "../call/runtime-calls.ts";
import type { ToolRequest, ToolResult } from "../tool-webhook.ts";

/** The environment variable that tells a worker its name. */
export const WORKER_VARIABLE = "OFFHOOK_WORKER";

/** A caller's upgrade that another worker is to serve; its socket goes along. */
export const handedUpgradeSchema = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  /** What came after the request, in base64. */
  head: z.string(),
});
export type HandedUpgrade = z.infer<typeof handedUpgradeSchema>;

/** Where there is room for one more call: in the process that asks, in another worker, or nowhere. */
export const roomSchema = z.discriminatedUnion("place", [
  z.object({ place: z.literal("here") }),
  z.object({ place: z.literal("elsewhere"), worker: z.string() }),
  z.object({ place: z.literal("nowhere") }),
]);
export type Room = z.infer<typeof roomSchema>;

/** A worker listens. */
export const readySchema = z.object({
  url: z.string(),
  /** Where the server for the tunnel listens, if one is needed. */
  toolUrl: z.string().nullable(),
});

export const toolRequestSchema = z.object({
  origin: z.object({
    callId: z.string().optional(),
    runtimeCallId: z.string().optional(),
    simulationId: z.string().optional(),
  }),
  calls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.unknown() })),
  trace: z.record(z.string(), z.string()).default({}),
});

export const toolResultsSchema = z.array(z.object({ toolCallId: z.string(), result: z.string() }));

/** An upgrade and the worker that it goes to. */
export const handOverSchema = z.object({ to: z.string(), upgrade: handedUpgradeSchema });

/** Tool calls that came to one worker, and the header that says whose they are. */
export const routedToolsSchema = z.object({ worker: z.string().nullable(), request: toolRequestSchema });

/** The primary process, as a worker uses it. */
export interface Primary {
  /** This worker's name, in log lines and in the headers of its calls' webhooks. */
  readonly worker: string;
  /** Reserves room for one more call, wherever there is some. */
  reserve(): Promise<Room>;
  /** Gives back the room of a call that is over, or that came to nothing. */
  release(): void;
  /** Calls at the runtime, which another worker ends if this one is killed. */
  readonly openCalls: OpenCalls;
  /** Hands an upgrade to the worker that has reserved room for it. */
  handOver(worker: string, upgrade: HandedUpgrade, socket: Socket): void;
  /**
   * Has the tool calls run by the worker they belong to.
   * @param worker as the webhook's header names it
   * @returns undefined when they are this worker's own
   */
  runTools(request: ToolRequest, worker: string | undefined): Promise<ToolResult[] | undefined>;
  /** The sum of all workers' metrics. */
  metrics(): Promise<string>;
  /** The address of the one tunnel. */
  tunnelUrl(): Promise<string>;
}
