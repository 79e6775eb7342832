/**
 * The body of `POST /call`. The twin places calls on `vapi.websocket` only.
 * Source: CreateCallDto of @vapi-ai/server-sdk; https://docs.vapi.ai/calls/websocket-transport
 */

import { MAX_SAMPLE_RATE, MIN_SAMPLE_RATE } from "@offhook/audio/resample";
import { z } from "zod";
import { assistantOverridesSchema, assistantSchema } from "./assistant.ts";
import { optional } from "./fields.ts";

const audioFormatSchema = z.strictObject({
  format: z.enum(["pcm_s16le", "mulaw"]).default("pcm_s16le"),
  container: optional(z.literal("raw")),
  /** The twin resamples from and to these rates; the vendor takes up to 192000. */
  sampleRate: optional(z.number().int().min(MIN_SAMPLE_RATE).max(MAX_SAMPLE_RATE)),
});

const websocketTransportSchema = z.strictObject({
  provider: z.literal("vapi.websocket"),
  conversationType: optional(z.enum(["voice", "chat"])),
  audioFormat: optional(audioFormatSchema),
});

const otherTransportSchema = z.looseObject({
  provider: z.enum(["vonage", "twilio", "vapi.sip", "telnyx", "daily"]),
});

const customerSchema = z.strictObject({
  numberE164CheckEnabled: optional(z.boolean()),
  extension: optional(z.string()),
  assistantOverrides: optional(assistantOverridesSchema),
  squadOverrides: optional(assistantOverridesSchema),
  number: optional(z.string()),
  sipUri: optional(z.string()),
  name: optional(z.string().max(40)),
  email: optional(z.string()),
  externalId: optional(z.string()),
});

const squadSchema = z.strictObject({
  name: optional(z.string()),
  members: z
    .array(
      z.strictObject({
        assistantVersion: optional(z.string()),
        assistantDestinations: optional(z.array(z.looseObject({}))),
        assistantId: optional(z.string()),
        assistant: optional(assistantSchema),
        assistantOverrides: optional(assistantOverridesSchema),
      }),
    )
    .min(1),
  membersOverrides: optional(assistantOverridesSchema),
});

export const createCallSchema = z.strictObject({
  transport: optional(z.discriminatedUnion("provider", [websocketTransportSchema, otherTransportSchema])),
  name: optional(z.string().max(40)),
  assistantId: optional(z.string()),
  assistantVersion: optional(z.string()),
  assistant: optional(assistantSchema),
  assistantOverrides: optional(assistantOverridesSchema),
  squadId: optional(z.string()),
  squad: optional(squadSchema),
  squadOverrides: optional(assistantOverridesSchema),
  workflowId: optional(z.string()),
  workflow: optional(z.looseObject({})),
  workflowOverrides: optional(z.looseObject({})),
  phoneNumberId: optional(z.string()),
  phoneNumber: optional(z.looseObject({})),
  customerId: optional(z.string()),
  customer: optional(customerSchema),
  customers: optional(z.array(customerSchema)),
  schedulePlan: optional(z.strictObject({ earliestAt: z.string(), latestAt: optional(z.string()) })),
});
export type CreateCall = z.output<typeof createCallSchema>;

/** `ids` is the vendor's bulk form; the twin deletes only the call in the path. */
export const deleteCallSchema = z.strictObject({ ids: optional(z.array(z.string())) });

export const updateCallSchema = z.strictObject({ name: optional(z.string().max(40)) });

/** The audio of the call socket, in both directions. */
export interface AudioFormat {
  format: "pcm_s16le" | "mulaw";
  sampleRate: number;
}

const DEFAULT_RATES = { pcm_s16le: 16_000, mulaw: 8_000 } as const;

/** The audio format a client asked for, with the vendor's defaults. */
export function audioFormat(asked: z.output<typeof audioFormatSchema> | null | undefined): AudioFormat {
  const format = asked?.format ?? "pcm_s16le";
  return { format, sampleRate: asked?.sampleRate ?? DEFAULT_RATES[format] };
}

export type WebsocketTransport = z.output<typeof websocketTransportSchema>;
