/** The `config` of the service `vapi` in `environment.yaml`. */

import { openAiEndpointConfig } from "@offhook/platform/openai/http";
import { z } from "zod";

const openAi = { provider: z.literal("openai"), ...openAiEndpointConfig };

export const voiceRuntimeConfig = z
  .strictObject({
    /** A YAML file whose `brain:` serves every call without its own script; relative to the environment file. Reloaded when it changes. */
    script: z.string().optional(),
    recognition: z
      .discriminatedUnion("provider", [
        z.strictObject({
          provider: z.literal("samples"),
          /** Folder of the recordings to recognise; relative to the environment file. Default: none, and nothing is understood. */
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
          /** Model to request. Default: the one the assistant names. */
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
          /** Voice to request. Default: the assistant's `voiceId`. */
          voice: z.string().optional(),
          response_format: z.enum(["pcm", "wav"]).default("pcm"),
        }),
      ])
      .default({ provider: "flite" }),
    /** Maximum live calls. The vendor's default is 10; this one admits the 200 real-time calls a laptop can run. */
    concurrency_limit: z.number().int().min(1).max(100_000).default(250),
    /** How long a created call waits for its socket. */
    connect_timeout_seconds: z.number().positive().max(86_400).default(30),
    /** Form of tool arguments in webhooks; `alternate` changes with every request, to exercise clients. */
    tool_arguments: z.enum(["object", "string", "alternate"]).default("object"),
    /** Some audio frames to the client end in the middle of a sample, as the vendor's do, to exercise clients. */
    odd_frames: z.boolean().default(false),
    /** Recordings to keep while the twin runs: the newest so many calls, in so many megabytes; 0 calls: none. */
    recordings: z
      .strictObject({
        calls: z.number().int().min(0).max(10_000).default(50),
        megabytes: z.number().int().min(1).max(4_000).default(256),
      })
      .prefault({}),
    org_id: z.string().default("eb166faa-7145-46ef-8044-589b47ae3b56"),
  })
  .prefault({});

export type VoiceRuntimeConfig = z.output<typeof voiceRuntimeConfig>;
