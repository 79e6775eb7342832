/** What the `config` of a log service in `environment.yaml` says about the translator. */

import { complete } from "@offhook/platform/openai/chat";
import { openAiEndpoint, openAiEndpointConfig } from "@offhook/platform/openai/http";
import { z } from "zod";
import { createTranslator, type Translator } from "./translator.ts";

/** Members of the service's `config`. */
export const translatorConfig = {
  /**
   * `compiler-first`: the model is asked for what the compiler does not know. `model-first`: it is asked for every ES|QL query,
   * and the compiler answers when it has no answer.
   */
  translator: z.enum(["compiler-first", "model-first"]).default("compiler-first"),
  /** The server and the model that translate; without it nothing is translated. */
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
 * @param variable reads a variable of the machine
 * @throws Error naming the variable that should hold the key and does not
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
