/** Reads and writes WAV files as mono PCM16. */
import wavefile from "wavefile";
import { BYTES_PER_SAMPLE, clampSample } from "./pcm.ts";

export interface Recording {
  samples: Int16Array;
  sampleRate: number;
}

/** PCM, float, A-law, µ-law, ADPCM, and the extensible header, which wraps one of them. */
const AUDIO_FORMATS = [1, 3, 6, 7, 17, 65_534];

/** What wavefile reads from the header; its own type is `object`. */
interface Format {
  audioFormat: number;
  sampleRate: number;
  numChannels: number;
}

/**
 * Reads any WAV file that wavefile supports (PCM of 8 to 32 bits, float, A-law, µ-law, ADPCM); averages its channels.
 * @throws Error saying what is wrong with the file
 */
export function readWav(bytes: Uint8Array): Recording {
  const wav = new wavefile.WaveFile(bytes);
  const format = wav.fmt as Format;
  const faults = faultsOf(format);
  if (faults.length > 0) throw new Error(faults.join("; "));
  const { sampleRate, numChannels } = format;
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

const HEADER_BYTES = 44;

/**
 * The header of a 16-bit PCM WAV file whose samples follow it, for a file that is made while it is sent.
 * @param shape `frames`: samples of each channel
 */
export function wavHeader(shape: { sampleRate: number; channels: number; frames: number }): Buffer {
  const { sampleRate, channels, frames } = shape;
  const frameBytes = channels * BYTES_PER_SAMPLE;
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(HEADER_BYTES - 8 + frames * frameBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(frames * frameBytes, 40);
  return header;
}

/** By hand: the threads that synthesise read WAV files and nothing else, and zod would add 0.1 s to the start of each. */
function faultsOf({ audioFormat, sampleRate, numChannels }: Format): string[] {
  return [
    ...(AUDIO_FORMATS.includes(audioFormat)
      ? []
      : ["its encoding is none of PCM, float, A-law, µ-law and ADPCM"]),
    ...(sampleRate > 0 ? [] : ["it says no sample rate"]),
    ...(numChannels > 0 ? [] : ["it has no channel"]),
  ];
}

function decodeTo16Bits(wav: wavefile.WaveFile): void {
  if (wav.bitDepth === "4") wav.fromIMAADPCM();
  else if (wav.bitDepth === "8a") wav.fromALaw();
  else if (wav.bitDepth === "8m") wav.fromMuLaw();
  else wav.toBitDepth("16");
}
