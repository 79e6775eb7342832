/** Flite's built-in voices, and the mapping from a vendor's voice to one of them. */
import { createHash } from "node:crypto";

/** Names as Flite knows them. (`kal`, at 8 kHz, is the telephone version of `kal16`; `awb_time` can only tell the time.) */
export const FLITE_VOICES = ["slt", "rms", "awb", "kal16"] as const;

export type FliteVoice = (typeof FLITE_VOICES)[number];

/** The Flite voice that the id names; any other id maps to one voice by its hash. */
export function fliteVoice({ provider, voiceId }: { provider: string; voiceId: string }): FliteVoice {
  const named = FLITE_VOICES.find((voice) => voice === voiceId);
  if (named !== undefined) return named;
  const digest = createHash("sha256").update(`${provider}/${voiceId}`).digest();
  return FLITE_VOICES[digest.readUInt32LE(0) % FLITE_VOICES.length] ?? FLITE_VOICES[0];
}
