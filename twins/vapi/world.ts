/** The tables of the voice runtime's world, as the control plane reads, seeds and changes them. */
import { createHash } from "node:crypto";
import { defineTable, type RowOf } from "@offhook/platform/world/table";
import { z } from "zod";
import { scriptRules } from "./providers/script.ts";
import { assistantSchema } from "./schema/assistant.ts";

const moment = z.iso.datetime();
const json = z.record(z.string(), z.unknown());
const milliseconds = z.number();
const latency = z.strictObject({
  endpointing_ms: milliseconds,
  transcriber_ms: milliseconds,
  model_ms: milliseconds,
  voice_ms: milliseconds,
  turn_ms: milliseconds,
});
const audioFormat = z.strictObject({
  format: z.enum(["pcm_s16le", "mulaw"]),
  sampleRate: z.number().int().positive(),
});

const calls = defineTable({
  description: "One row per call, from its creation. The oldest ended calls make room for new ones.",
  key: "id",
  limit: { rows: 20_000, mayEvict: (row) => row.status === "ended" },
  columns: {
    id: { type: z.uuid(), description: "The vendor's call id." },
    org_id: { type: z.string(), description: "The organisation the key belongs to." },
    simulation_id: {
      type: z.string().nullable().default(null),
      description: "The simulation the call belongs to: metadata.simulationId of its assistant.",
    },
    name: { type: z.string().nullable().default(null), description: "A name given by the client." },
    type: {
      type: z.literal("vapi.websocketCall").default("vapi.websocketCall"),
      description: "The kind of call, in the vendor's words.",
    },
    status: { type: z.enum(["queued", "in-progress", "ended"]), description: "The state of the call." },
    ended_reason: {
      type: z.string().nullable().default(null),
      description: "Why the call ended, in the vendor's words.",
    },
    created_at: { type: moment, description: "When the call was created." },
    updated_at: { type: moment, description: "When the row last changed." },
    started_at: { type: moment.nullable().default(null), description: "When the socket connected." },
    ended_at: { type: moment.nullable().default(null), description: "When the call ended." },
    duration_ms: {
      type: z.number().min(0).nullable().default(null),
      description: "Length of the call in media time, in milliseconds.",
    },
    assistant_id: {
      type: z.string().nullable().default(null),
      description: "The stored assistant the call was created with.",
      references: "assistants.id",
      mayDangle: true,
    },
    assistant: {
      type: json.nullable().default(null),
      description: "The inline assistant the call was created with; secrets are sealed.",
    },
    assistant_overrides: {
      type: json.nullable().default(null),
      description: "The call's changes to its assistant; secrets are sealed.",
    },
    audio_format: { type: audioFormat, description: "Format and sample rate of the call socket." },
    details: {
      type: json.default({}),
      description: "Further members of the creation body (customer, squad, …), echoed to the client.",
    },
    performance: {
      type: json.nullable().default(null),
      description: "Latencies of each turn and their averages, in milliseconds, as the vendor names them.",
    },
  },
});

const messages = defineTable({
  description:
    "The messages of a call: one row per finished utterance, tool call and tool result, and per speech in which nothing was recognised.",
  key: "id",
  columns: {
    id: { type: z.string(), description: "Call id and position." },
    call_id: { type: z.string(), description: "The call.", references: "calls.id" },
    simulation_id: {
      type: z.string().nullable().default(null),
      description: "The simulation the call belongs to.",
    },
    position: { type: z.number().int().min(0), description: "Order within the call, from 0." },
    role: {
      type: z.enum(["user", "assistant", "tool_call", "tool_result", "unrecognised"]),
      description:
        "The source of the row. unrecognised: the caller's speech in which nothing was recognised.",
    },
    text: {
      type: z.string(),
      description:
        "What was said, or what a tool answered. Empty for a tool call, and where nothing was recognised.",
    },
    name: { type: z.string().nullable().default(null), description: "The tool." },
    arguments: { type: json.nullable().default(null), description: "Arguments of a tool call." },
    tool_call_id: { type: z.string().nullable().default(null), description: "Links a result to its call." },
    start_ms: {
      type: z.number().nullable().default(null),
      description: "When it began, in media time.",
    },
    end_ms: {
      type: z.number().nullable().default(null),
      description: "When it ended, in media time.",
    },
    recorded_at: {
      type: moment.nullable().default(null),
      description: "When it ended, by the sandbox's clock.",
    },
    latency: {
      type: latency.nullable().default(null),
      description:
        "How long the caller waited for this answer, in milliseconds: until the turn counted as over, for its transcript, for the model, for the voice, and in all. No value for what answers no turn.",
    },
    interrupted: {
      type: z.boolean().default(false),
      description: "Whether the caller cut this answer short.",
    },
  },
});

const scripts = defineTable({
  description: "Rules of the scripted brain, by simulation; the row * serves calls without their own.",
  key: "simulation_id",
  columns: {
    simulation_id: { type: z.string().min(1), description: "A simulation, or *." },
    rules: { type: scriptRules, description: "Rules in the order of evaluation." },
  },
});

const assistants = defineTable({
  description: "Stored assistants.",
  key: "id",
  columns: {
    id: { type: z.uuid(), description: "The vendor's assistant id." },
    org_id: { type: z.string(), description: "The organisation it belongs to." },
    created_at: { type: moment, description: "When it was created." },
    updated_at: { type: moment, description: "When it last changed." },
    assistant: {
      type: assistantSchema,
      description: "The assistant as the client sent it; secrets are sealed.",
    },
  },
});

const apiKeys = defineTable({
  description: "Keys the call API accepts.",
  key: "id",
  columns: {
    id: { type: z.string().min(1), description: "A name for the key." },
    key_sha256: { type: z.string().length(64), description: "SHA-256 of the key, in hexadecimal." },
  },
});

/** SHA-256 of an API key, in hexadecimal: the world stores no key. */
export function keyHash(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

export const tables = { calls, messages, scripts, assistants, api_keys: apiKeys };

export type CallRow = RowOf<typeof calls.columns>;
export type MessageRow = RowOf<typeof messages.columns>;
export type AssistantRow = RowOf<typeof assistants.columns>;
