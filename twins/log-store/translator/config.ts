/** What the `config` of a log service in `environment.yaml` says about the translator. */

import { complete } from "@offhook/platform/openai/chat";
import { openAiEndpoint, openAiEndpointConfig } from "@offhook/platform/openai/http";
import { z } from "zod";
import { createTranslator, type Translator } from "./translator.ts";

/** Members of the service's `config`. */
export const translatorConfig = {
  /**
   * `compiler-first`: the model translates what the compiler cannot. `model-first`: it translates every ES|QL query, and the compiler
   * answers when the model cannot.
   */
  translator: z.enum(["compiler-first", "model-first"]).default("compiler-first"),
  /** The server and the model that translate; absent: nothing is translated. */
  model: z
    .strictObject({
      ...openAiEndpointConfig,
      /** As the server names it. */
      name: z.string().min(1),
    })
    .optional(),
};
type ModelConfig = z.output<typeof translatorConfig.model>;

/**
 * @param variable reads an environment variable
 * @throws Error naming the variable that should hold the key
 */
export function translatorOf(
  config: ModelConfig,
  variable: (name: string) => string | undefined,
): Translator | undefined {
  if (!config) return undefined;
  const endpoint = openAiEndpoint(config, variable);
  const { name } = config;
  return createTranslator(
    { name, complete: (messages, signal) => complete(endpoint, name, messages, signal) },
    endpoint.timeoutMs,
  );
}
