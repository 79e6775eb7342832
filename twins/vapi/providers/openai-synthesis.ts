/**
 * Text to speech on any OpenAI-compatible `/audio/speech`. `pcm` answers are mono PCM16 at 24 kHz, as OpenAI defines
 * them; `wav` answers name their own rate.
 * Source: https://platform.openai.com/docs/api-reference/audio/createSpeech
 */

import { resample } from "@offhook/audio/resample";
import {
  createWatchdog,
  type Endpoint,
  ProviderError,
  post,
  providerReason,
  readBytes,
} from "@offhook/platform/openai/http";
import type { Logger } from "pino";
import wavefile from "wavefile";
import { answerTimeoutMs, INTERNAL_RATE, type Synthesis } from "./provider.ts";

const PCM_RATE = 24_000;
/** Five minutes of PCM. */
const MAX_AUDIO_BYTES = 5 * 60 * PCM_RATE * 2;

export interface OpenAiSynthesisParts {
  endpoint: Endpoint;
  model: string;
  /** Requested instead of the assistant's own voice. */
  voice?: string | undefined;
  response_format: "pcm" | "wav";
  log: Logger;
}

/** A sentence that cannot be synthesised is silent, and the log says why. */
export function createOpenAiSynthesis(parts: OpenAiSynthesisParts): Synthesis {
  const { endpoint, model, response_format, log } = parts;
  return {
    timeoutMs: answerTimeoutMs(endpoint),
    async speak(text, voice, signal) {
      const watchdog = createWatchdog(endpoint.timeoutMs, signal);
      try {
        const json = { model, voice: parts.voice ?? voice.voiceId, input: text, response_format };
        const response = await post(endpoint, "/audio/speech", { json }, watchdog);
        const bytes = await readBytes(response, MAX_AUDIO_BYTES, watchdog);
        return response_format === "wav" || isWav(bytes)
          ? samplesFromWav(bytes)
          : resample(toSamples(bytes), PCM_RATE, INTERNAL_RATE);
      } catch (error) {
        if (!signal.aborted)
          log.error({ reason: providerReason(error, watchdog) }, "the sentence was not spoken");
        return new Int16Array(0);
      } finally {
        watchdog.stop();
      }
    },
  };
}

function isWav(bytes: Buffer): boolean {
  return bytes.toString("latin1", 0, 4) === "RIFF" && bytes.toString("latin1", 8, 12) === "WAVE";
}

/** Ignores an odd last byte, which is half a sample. */
function toSamples(bytes: Buffer): Int16Array {
  const samples = new Int16Array(Math.floor(bytes.length / 2));
  for (let index = 0; index < samples.length; index++) samples[index] = bytes.readInt16LE(index * 2);
  return samples;
}

function samplesFromWav(bytes: Buffer): Int16Array {
  const wav = new wavefile.WaveFile();
  try {
    wav.fromBuffer(bytes);
    if (wav.bitDepth !== "16") wav.toBitDepth("16");
  } catch {
    throw new ProviderError("the answer is not a WAV file");
  }
  const channels = wav.getSamples(false, Int16Array);
  const [first] = Array.isArray(channels) ? channels : [channels];
  const { sampleRate } = Object(wav.fmt);
  if (!(first instanceof Int16Array) || typeof sampleRate !== "number") {
    throw new ProviderError("the answer's WAV holds no audio");
  }
  return resample(first, sampleRate, INTERNAL_RATE);
}
