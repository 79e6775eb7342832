/** `samples/utterances.yaml`, from which the samples are made. */

import { MAX_SAMPLE_RATE, MIN_SAMPLE_RATE } from "@offhook/audio/resample";
import { sampleNameSchema } from "@offhook/audio/sample-library";
import { parse } from "yaml";
import { z } from "zod";
import { FLITE_VOICES } from "../providers/flite/voices.ts";

export const UTTERANCES_FILE = "utterances.yaml";

const durationSchema = z.number().int().min(1).max(600_000);
const levelSchema = z.number().min(-90).max(-3);
/** What is said without a pause. */
export const spokenSchema = z.string().trim().min(1).max(1_000);

/** Speech, or speech alternating with pauses. */
const textSchema = z.union([
  spokenSchema,
  z.array(z.union([spokenSchema, z.strictObject({ pause_ms: durationSchema })])).min(1),
]);

/** Synthesised, or with `recorded` a user's recording, whose file is kept as it is. */
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
    sample_rate: z.number().int().min(MIN_SAMPLE_RATE).max(MAX_SAMPLE_RATE),
  }),
]);

const utterancesSchema = z.strictObject({
  version: z.literal(1),
  utterances: z.array(utteranceSchema),
  sounds: z.array(soundSchema).default([]),
});

export type Utterances = z.infer<typeof utterancesSchema>;
export type Utterance = z.infer<typeof utteranceSchema>;
export type Sound = z.infer<typeof soundSchema>;
export type SpokenText = z.infer<typeof textSchema>;

/** The words without the pauses, as in a transcript. */
export function plainText(text: SpokenText): string {
  const parts = typeof text === "string" ? [text] : text;
  return parts.filter((part) => typeof part === "string").join(" ");
}

/** Parses and validates the content of `file`. @throws Error saying what is wrong with it, and where */
export function parseUtterances(source: string, file: string): Utterances {
  const parsed = utterancesSchema.safeParse(parse(source));
  if (!parsed.success) throw new Error(`${file} cannot be used:\n${z.prettifyError(parsed.error)}`);
  const { utterances, sounds } = parsed.data;
  const names = [...utterances, ...sounds].map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`${file}: two samples are named ${twice}`);
  const spoken = utterances.map(({ name }) => name);
  const orphan = sounds.find((sound) => sound.kind === "wrong-rate" && !spoken.includes(sound.of));
  if (orphan !== undefined)
    throw new Error(`${file}: ${orphan.name} is made of a sample that does not exist`);
  return parsed.data;
}
