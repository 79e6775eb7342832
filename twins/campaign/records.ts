/** What a campaign is, and what it leaves behind: the shapes that workers write and reports read. */
import { z } from "zod";

/** A name in file names, URLs and reports. */
const name = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "use letters, digits, dots, hyphens and underscores");
const speed = z.number().min(0.1).max(50);
const voiceAddress = z.url({ protocol: /^(https?|wss?)$/, error: "must be a ws:// or http:// address" });

/** A named set of options under which every scenario is called. */
const variantSchema = z.strictObject({
  name,
  /** Default: the scenario's, else binary. */
  framing: z.enum(["binary", "json"]).optional(),
  /** Default: the campaign's. */
  speed: speed.optional(),
  /** Faults by service, armed besides the scenario's. They are checked against the twins when a campaign is started. */
  faults: z.record(z.string(), z.array(z.record(z.string(), z.unknown()))).optional(),
  /** Address of the agent to call instead of the campaign's. */
  agent: voiceAddress.optional(),
});

/** Whose report, trace and audio are kept. */
const keep = z.enum(["all", "failures", "none"]);

const BYTES_PER_MEBIBYTE = 1024 * 1024;
/** A minute of the stereo recording of a call takes 5.5 MiB. */
const DEFAULT_CALL_BYTES = 16 * BYTES_PER_MEBIBYTE;
const DEFAULT_CAMPAIGN_BYTES = 1024 * BYTES_PER_MEBIBYTE;

/** What a campaign calls, how, and what it keeps. */
export const specSchema = z.strictObject({
  /** Names of the scenarios. Their texts are stored with the campaign, so that each worker places the same calls. */
  scenarios: z.array(name).min(1).max(1_000),
  /** Calls of each scenario and variant. */
  repeat: z.int().min(1).max(1_000_000),
  variants: z.array(variantSchema).min(1).max(100),
  speed: speed.default(1),
  /** Addresses of the agents, called in turn; empty: each worker starts its own. */
  agents: z.array(voiceAddress).max(1_000).default([]),
  keep: keep.default("failures"),
  /** Of one call and of the whole campaign; what exceeds them is not kept, and its record says so. */
  keepLimits: z
    .strictObject({
      callBytes: z.int().min(0).default(DEFAULT_CALL_BYTES),
      campaignBytes: z.int().min(0).default(DEFAULT_CAMPAIGN_BYTES),
    })
    .prefault({}),
  /** What is drawn in a call comes from this and the call's key. */
  seed: z.int().min(0).max(0xffff_ffff).default(0),
  /** Attempts at a call before it counts as an error. */
  attempts: z.int().min(1).max(20).default(5),
});

export type Variant = z.output<typeof variantSchema>;
export type CampaignSpec = z.output<typeof specSchema>;
export type Keep = z.output<typeof keep>;

/** Which call of a campaign it is. */
export interface CallKey {
  scenario: string;
  variant: string;
  /** Counts from 1. */
  repeat: number;
}

/** The result of a call, written once per key, whoever placed it first. */
export interface CallRecord extends CallKey {
  /**
   * `passed` and `failed` are the caller's verdict. `error`: it could not be judged in any attempt (no agent, no twins);
   * the reason is in `failures`.
   */
  verdict: "passed" | "failed" | "error";
  failures: readonly string[];
  /** The outcome of the caller's report; `null` when there is no report. */
  outcome: string | null;
  /** Of audio. */
  durationMs: number;
  /** The response time of each turn that answers the caller, by the caller's clock. */
  responseMs: readonly number[];
  /** The caller's machine was too busy for the speed of the call: its response times say nothing about the agent. */
  heldUp: boolean;
  toolCalls: readonly string[];
  /** ISO 8601. */
  startedAt: string;
  endedAt: string;
  /** Name of the worker that placed it. */
  worker: string;
  attempts: number;
}

export interface Campaign {
  id: string;
  name: string;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601; `null` while calls are missing. */
  endedAt: string | null;
  cancelled: boolean;
  /** Id of the campaign to compare with. */
  baseline: string | null;
  spec: CampaignSpec;
  /** Scenarios × variants × repeats. */
  expectedCalls: number;
}
