/** Chooses recognition, brain and synthesis by the service's `config`. */

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
  /** Each call gets its own brain, which keeps state of that call. */
  createBrain(call: BrainCall): Brain;
  close(): Promise<void>;
}

/** The model server that an assistant names. */
export interface CustomLlm {
  endpoint: Endpoint;
  /** Why the call ends when the server fails, by the status it answered. */
  endedReason(status: number | undefined): string;
  /** Further members of each request. */
  members(): Record<string, unknown>;
}

/** The call for which a brain is created. */
interface BrainCall {
  log: Logger;
  /** Replaces the configured brain. */
  customLlm: CustomLlm | undefined;
}

/** A provider that may own threads. */
type Closable<Provider> = Provider & { close?(): Promise<void> };

/** The providers that need no key and no network. */
export interface EmbeddedSpeech {
  /** @param samplesFolder the configured recordings; `undefined`: none */
  recognition(samplesFolder: string | undefined): Promise<Closable<Recognition>>;
  synthesis(): Promise<Closable<Synthesis>>;
}

export interface ProviderChoice {
  config: VoiceRuntimeConfig;
  embedded: EmbeddedSpeech;
  rulesFor(simulationId: string | undefined): readonly ScriptRule[] | undefined;
  resolvePath(path: string): string;
  /** Builds the error for a file of the config that cannot be used. */
  fileError(paths: string, reason: unknown): Error;
  /** Reads an environment variable. @throws Error for one that the config must not name */
  variable(name: string): string | undefined;
  log: Logger;
}

/** @throws Error naming the environment variable of a configured key that is not set */
export async function chooseProviders(parts: ProviderChoice): Promise<Providers> {
  // Resolve everything the config names before starting anything that would have to be closed again.
  const [startRecognition, startSynthesis, createBrain] = [
    recognitionStarter(parts),
    synthesisStarter(parts),
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

function recognitionStarter(parts: ProviderChoice): Start<Recognition> {
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

function synthesisStarter({ config, embedded, variable, log }: ProviderChoice): Start<Synthesis> {
  const { synthesis } = config;
  if (synthesis.provider === "flite") return () => embedded.synthesis();
  const endpoint = openAiEndpoint(synthesis, variable);
  return () => createOpenAiSynthesis({ ...synthesis, endpoint, log });
}

function brainMaker(parts: ProviderChoice): Providers["createBrain"] {
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

function configuredBrainMaker({ config, rulesFor, variable }: ProviderChoice): (log: Logger) => Brain {
  const { brain } = config;
  if (brain.provider === "script") return (log) => createScriptBrain({ rulesFor, log });
  const endpoint = openAiEndpoint(brain, variable);
  return (log) => createOpenAiBrain({ endpoint, model: brain.model, limits: openAiLimits, log });
}
