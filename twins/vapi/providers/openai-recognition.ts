/**
 * Speech to text on any OpenAI-compatible `/audio/transcriptions`: one request with a WAV file per turn.
 * Source: https://platform.openai.com/docs/api-reference/audio/createTranscription
 */

import {
  createWatchdog,
  type Endpoint,
  post,
  providerReason,
  readBytes,
} from "@offhook/platform/openai/http";
import type { Logger } from "pino";
import wavefile from "wavefile";
import { z } from "zod";
import { answerTimeoutMs, INTERNAL_RATE, type Recognition, type Transcript } from "./provider.ts";

const MAX_ANSWER_BYTES = 256 * 1024;
const NOTHING: Transcript = { text: null };
const answerSchema = z.object({ text: z.string() });

/**
 * A turn that cannot be transcribed counts as not recognised, and the log says why. There are no partial results: each
 * would cost a request.
 */
export function createOpenAiRecognition(endpoint: Endpoint, model: string, log: Logger): Recognition {
  return {
    timeoutMs: answerTimeoutMs(endpoint),
    hint: `the speech-to-text server was asked for the model ${model}; if it failed, an earlier line of the log says why`,
    async transcribe(speech, language, signal) {
      const watchdog = createWatchdog(endpoint.timeoutMs, signal);
      try {
        const form = requestForm(speech, model, language);
        const response = await post(endpoint, "/audio/transcriptions", { form }, watchdog);
        const answer = await readBytes(response, MAX_ANSWER_BYTES, watchdog);
        const { text } = answerSchema.parse(JSON.parse(answer.toString("utf8")));
        // whisper.cpp begins a line with each of its segments.
        const line = text.trim().replace(/\s+/g, " ");
        return line === "" ? NOTHING : { text: line };
      } catch (error) {
        if (!signal.aborted)
          log.error({ reason: providerReason(error, watchdog) }, "the turn was not transcribed");
        return NOTHING;
      } finally {
        watchdog.stop();
      }
    },
    partial: async () => NOTHING,
  };
}

function requestForm(speech: Int16Array, model: string, language: string): FormData {
  const wav = new wavefile.WaveFile();
  wav.fromScratch(1, INTERNAL_RATE, "16", speech);
  const form = new FormData();
  form.set("file", new Blob([wav.toBuffer()], { type: "audio/wav" }), "turn.wav");
  form.set("model", model);
  form.set("response_format", "json");
  // The vendor says `en-US`, the API takes ISO 639 codes.
  const [code] = language.split("-");
  if (code && code !== "multi") form.set("language", code);
  return form;
}
