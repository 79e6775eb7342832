/** Picks recognition, brain and synthesis by the service's `config`. */
import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import { parse } from "yaml";
import { z } from "zod";
import type { VoiceRuntimeConfig } from "../config.ts";
import { createOpenAiBrain } from "./openai-brain.ts";
import { openAiEndpoint } from "./openai-http.ts";
import { createOpenAiRecognition } from "./openai-recognition.ts";
import { createOpenAiSynthesis } from "./openai-synthesis.ts";
import type { Brain, Recognition, Synthesis } from "./provider.ts";
import { type ScriptRule, scriptRules } from "./script.ts";
import { createScriptBrain } from "./script-brain.ts";

export interface Providers {
  recognition: Recognition;
  synthesis: Synthesis;
  /** A brain remembers its call, so each call gets its own. */
  createBrain(log: Logger): Brain;
  close(): Promise<void>;
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
  log: Logger;
}

/** @throws Error naming the variable when a configured key is not in the environment */
export async function chooseProviders(parts: ChoosingParts): Promise<Providers> {
  const { config, embedded, log } = parts;
  const [recognition, synthesis]: [Closable<Recognition>, Closable<Synthesis>] = await Promise.all([
    config.recognition.provider === "openai"
      ? createOpenAiRecognition(openAiEndpoint(config.recognition), config.recognition.model, log)
      : embedded.recognition(config.recognition.samples && parts.resolvePath(config.recognition.samples)),
    config.synthesis.provider === "openai"
      ? createOpenAiSynthesis({ ...config.synthesis, endpoint: openAiEndpoint(config.synthesis), log })
      : embedded.synthesis(),
  ]);
  return {
    recognition,
    synthesis,
    createBrain: brainMaker(parts),
    async close() {
      await Promise.all([recognition.close?.(), synthesis.close?.()]);
    },
  };
}

function brainMaker({ config, rulesFor }: ChoosingParts): (log: Logger) => Brain {
  const { brain } = config;
  if (brain.provider === "script") return (log) => createScriptBrain({ rulesFor, log });
  const endpoint = openAiEndpoint(brain);
  return (log) => createOpenAiBrain({ endpoint, model: brain.model, log });
}

const scriptFile = z.looseObject({ brain: scriptRules });

/** Reads the `brain:` of a scenario file. @throws Error that says what is wrong where */
export async function readScriptFile(path: string): Promise<ScriptRule[]> {
  const parsed = scriptFile.safeParse(await readYaml(path));
  if (parsed.success) return parsed.data.brain;
  throw new Error(`the script ${path} cannot be used:\n${z.prettifyError(parsed.error)}`);
}

async function readYaml(path: string): Promise<unknown> {
  try {
    return parse(await readFile(path, "utf8"));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the script ${path} cannot be read: ${reason}`, { cause: error });
  }
}
