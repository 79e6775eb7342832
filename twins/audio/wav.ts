/** WAV files in and out, as mono PCM16. */
import wavefile from "wavefile";
import { z } from "zod";
import { clampSample } from "./pcm.ts";

export interface Recording {
  samples: Int16Array;
  sampleRate: number;
}

const formatSchema = z.object({
  sampleRate: z.number().int().positive(),
  numChannels: z.number().int().positive(),
});

/**
 * Reads any WAV file wavefile reads (PCM of 8 to 32 bits, float, A-law, µ-law, ADPCM); channels are averaged.
 * @throws Error saying what is wrong with the file.
 */
export function readWav(bytes: Uint8Array): Recording {
  const wav = new wavefile.WaveFile(bytes);
  const { sampleRate, numChannels } = formatSchema.parse(wav.fmt);
  if (wav.bitDepth !== "16") decodeTo16Bits(wav);
  const interleaved = wav.getSamples(true, Int16Array);
  const samples = new Int16Array(interleaved.length / numChannels);
  for (let at = 0; at < samples.length; at++) {
    let sum = 0;
    for (let channel = 0; channel < numChannels; channel++)
      sum += interleaved[at * numChannels + channel] ?? 0;
    samples[at] = clampSample(sum / numChannels);
  }
  return { samples, sampleRate };
}

/** Writes a mono 16-bit WAV file. */
export function writeWav({ samples, sampleRate }: Recording): Uint8Array {
  const wav = new wavefile.WaveFile();
  wav.fromScratch(1, sampleRate, "16", samples);
  return wav.toBuffer();
}

function decodeTo16Bits(wav: wavefile.WaveFile): void {
  if (wav.bitDepth === "4") wav.fromIMAADPCM();
  else if (wav.bitDepth === "8a") wav.fromALaw();
  else if (wav.bitDepth === "8m") wav.fromMuLaw();
  else wav.toBitDepth("16");
}
