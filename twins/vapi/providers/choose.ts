/** Picks recognition, brain and synthesis by the service's `config`. */

import { hostOf } from "@offhook/platform/client/webhook";
import { type Endpoint, openAiEndpoint } from "@offhook/platform/openai/http";
import type { Logger } from "pino";
import type { VoiceRuntimeConfig } from "../config.ts";
import { assistantLimits, createOpenAiBrain, openAiLimits } from "./openai-brain.ts";
import { createOpenAiRecognition } from "./openai-recognition.ts";
import { createOpenAiSynthesis } from "./openai-synthesis.ts";
import type { Brain, Recognition, Synthesis } from "./provider.ts";
import type { ScriptRule } from "./script.ts";
import { createScriptBrain } from "./script-brain.ts";

export interface Providers {
  recognition: Recognition;
  synthesis: Synthesis;
  /** A brain remembers its call, so each call gets its own. */
  createBrain(call: BrainCall): Brain;
  close(): Promise<void>;
}

/** The model server that an assistant names itself. */
export interface CustomLlm {
  endpoint: Endpoint;
  /** Why a call ends whose server failed, by the status it answered. */
  endedReason(status: number | undefined): string;
  /** What each request carries besides a completion's own members. */
  members(): Record<string, unknown>;
}

/** The call that a brain is for. */
export interface BrainCall {
  log: Logger;
  /** Asked in place of the configured brain. */
  customLlm: CustomLlm | undefined;
}

/** A provider that may hold threads. */
type Closable<Provider> = Provider & { close?(): Promise<void> };

/** The parts that need no key and no network. */
export interface EmbeddedSpeech {
  /** @param samplesFolder the configured recordings; `undefined`: the project's own */
  recognition(samplesFolder: string | undefined): Promise<Closable<Recognition>>;
  synthesis(): Promise<Closable<Synthesis>>;
}

export interface ChoosingParts {
  config: VoiceRuntimeConfig;
  embedded: EmbeddedSpeech;
  rulesFor(simulationId: string | undefined): readonly ScriptRule[] | undefined;
  resolvePath(path: string): string;
  /** The error to throw when a file that the config names cannot be used. */
  fileError(paths: string, reason: unknown): Error;
  /** Reads a variable of the machine. @throws Error for one that may not be named */
  variable(name: string): string | undefined;
  log: Logger;
}

/** @throws Error naming the variable when a configured key is not in the environment */
export async function chooseProviders(parts: ChoosingParts): Promise<Providers> {
  // What the config names is looked up before anything starts that would have to be closed again.
  const [startRecognition, startSynthesis, createBrain] = [
    recognitionOf(parts),
    synthesisOf(parts),
    brainMaker(parts),
  ];
  const [recognition, synthesis] = await Promise.all([startRecognition(), startSynthesis()]);
  return {
    recognition,
    synthesis,
    createBrain,
    async close() {
      await Promise.all([recognition.close?.(), synthesis.close?.()]);
    },
  };
}

type Start<Provider> = () => Closable<Provider> | Promise<Closable<Provider>>;

function recognitionOf(parts: ChoosingParts): Start<Recognition> {
  const { config, embedded, resolvePath, fileError, variable, log } = parts;
  const { recognition } = config;
  if (recognition.provider === "samples") {
    const { samples } = recognition;
    if (samples === undefined) return () => embedded.recognition(undefined);
    const folder = resolvePath(samples);
    return () =>
      embedded.recognition(folder).catch((reason: unknown) => {
        throw fileError(samples, reason);
      });
  }
  const endpoint = openAiEndpoint(recognition, variable);
  return () => createOpenAiRecognition(endpoint, recognition.model, log);
}

function synthesisOf({ config, embedded, variable, log }: ChoosingParts): Start<Synthesis> {
  const { synthesis } = config;
  if (synthesis.provider === "flite") return () => embedded.synthesis();
  const endpoint = openAiEndpoint(synthesis, variable);
  return () => createOpenAiSynthesis({ ...synthesis, endpoint, log });
}

function brainMaker(parts: ChoosingParts): Providers["createBrain"] {
  const createConfigured = configuredBrainMaker(parts);
  return ({ log, customLlm }) => {
    if (customLlm === undefined) return createConfigured(log);
    const { endpoint, endedReason, members } = customLlm;
    log.info(
      { host: hostOf(endpoint.baseUrl) },
      "the assistant's custom-llm answers: model.url is asked, not the configured brain",
    );
    return createOpenAiBrain({
      endpoint,
      model: undefined,
      limits: assistantLimits,
      members,
      endedReason,
      log,
    });
  };
}

function configuredBrainMaker({ config, rulesFor, variable }: ChoosingParts): (log: Logger) => Brain {
  const { brain } = config;
  if (brain.provider === "script") return (log) => createScriptBrain({ rulesFor, log });
  const endpoint = openAiEndpoint(brain, variable);
  return (log) => createOpenAiBrain({ endpoint, model: brain.model, limits: openAiLimits, log });
}
