/** The `config` of the service `vapi` in `environment.yaml`. */

import { openAiEndpointConfig } from "@offhook/platform/openai/http";
import { z } from "zod";

const openAi = { provider: z.literal("openai"), ...openAiEndpointConfig };

export const voiceRuntimeConfig = z
  .strictObject({
    /** A YAML file whose `brain:` serves every call without a script of its own; relative to the environment file. Read again when it changes. */
    script: z.string().optional(),
    recognition: z
      .discriminatedUnion("provider", [
        z.strictObject({
          provider: z.literal("samples"),
          /** Folder of the recordings that can be understood; relative to the environment file. Default: the project's. */
          samples: z.string().optional(),
        }),
        z.strictObject({ ...openAi, model: z.string().default("whisper-1") }),
      ])
      .default({ provider: "samples" }),
    brain: z
      .discriminatedUnion("provider", [
        z.strictObject({ provider: z.literal("script") }),
        z.strictObject({
          ...openAi,
          /** The model asked for; without it the one the assistant names. */
          model: z.string().optional(),
        }),
      ])
      .default({ provider: "script" }),
    synthesis: z
      .discriminatedUnion("provider", [
        z.strictObject({ provider: z.literal("flite") }),
        z.strictObject({
          ...openAi,
          model: z.string().default("tts-1"),
          /** The voice asked for; without it the assistant's own `voiceId`. */
          voice: z.string().optional(),
          response_format: z.enum(["pcm", "wav"]).default("pcm"),
        }),
      ])
      .default({ provider: "flite" }),
    /** Calls that may live at once. The vendor's default is 10; this one lets 200 real-time calls run on a laptop. */
    concurrency_limit: z.number().int().min(1).max(100_000).default(250),
    /** How long a created call waits for its socket. */
    connect_timeout_seconds: z.number().positive().max(86_400).default(30),
    /** How tool arguments travel to webhooks; `alternate` changes with every request, to exercise clients. */
    tool_arguments: z.enum(["object", "string", "alternate"]).default("object"),
    /** Audio frames to the client now and then end in the middle of a sample, as the vendor's do, to exercise clients. */
    odd_frames: z.boolean().default(false),
    org_id: z.string().default("eb166faa-7145-46ef-8044-589b47ae3b56"),
  })
  .prefault({});

export type VoiceRuntimeConfig = z.output<typeof voiceRuntimeConfig>;
