/** `samples/utterances.yaml`: what the samples are made from. */
import { z } from "zod";
import { HIGHEST_RATE, LOWEST_RATE } from "../../twins/audio/resample.ts";
import { sampleNameSchema } from "../../twins/audio/sample-library.ts";
import { FLITE_VOICES } from "../../twins/voice-runtime/providers/flite/voices.ts";

export const UTTERANCES_FILE = "utterances.yaml";

const durationSchema = z.number().int().min(1).max(600_000);
const levelSchema = z.number().min(-90).max(-3);
const spokenSchema = z.string().trim().min(1).max(1_000);

/** Speech in turn with silence. */
const textSchema = z.union([
  spokenSchema,
  z.array(z.union([spokenSchema, z.strictObject({ pause_ms: durationSchema })])).min(1),
]);

/** Spoken by the synthesiser, or, with `recorded`, by whoever made the file: that one is kept as it is. */
const utteranceSchema = z.union([
  z.strictObject({ name: sampleNameSchema, voice: z.enum(FLITE_VOICES), text: textSchema }),
  z.strictObject({
    name: sampleNameSchema,
    voice: z.string().min(1),
    text: textSchema,
    recorded: z.literal(true),
  }),
]);

const soundSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    name: sampleNameSchema,
    kind: z.literal("noise"),
    duration_ms: durationSchema,
    level_db: levelSchema,
    seed: z.number().int().nonnegative(),
  }),
  z.strictObject({
    name: sampleNameSchema,
    kind: z.literal("tones"),
    duration_ms: durationSchema,
    level_db: levelSchema,
  }),
  z.strictObject({
    name: sampleNameSchema,
    kind: z.literal("wrong-rate"),
    of: sampleNameSchema,
    sample_rate: z.number().int().min(LOWEST_RATE).max(HIGHEST_RATE),
  }),
]);

export const utterancesSchema = z.strictObject({
  version: z.literal(1),
  utterances: z.array(utteranceSchema),
  sounds: z.array(soundSchema).default([]),
});

export type Utterance = z.infer<typeof utteranceSchema>;
export type Sound = z.infer<typeof soundSchema>;
export type SpokenText = z.infer<typeof textSchema>;

/** The words alone, as a transcript has them. */
export function plainText(text: SpokenText): string {
  const parts = typeof text === "string" ? [text] : text;
  return parts.filter((part) => typeof part === "string").join(" ");
}
