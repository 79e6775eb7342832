/** Picks recognition, brain and synthesis by the service's `config`. */
import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import { parse } from "yaml";
import { z } from "zod";
import { openAiEndpoint } from "../../openai/http.ts";
import type { VoiceRuntimeConfig } from "../config.ts";
import { createOpenAiBrain } from "./openai-brain.ts";
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

function recognitionOf({ config, embedded, resolvePath, variable, log }: ChoosingParts): Start<Recognition> {
  const { recognition } = config;
  if (recognition.provider === "samples") {
    const folder = recognition.samples && resolvePath(recognition.samples);
    return () => embedded.recognition(folder);
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

function brainMaker({ config, rulesFor, variable }: ChoosingParts): (log: Logger) => Brain {
  const { brain } = config;
  if (brain.provider === "script") return (log) => createScriptBrain({ rulesFor, log });
  const endpoint = openAiEndpoint(brain, variable);
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
