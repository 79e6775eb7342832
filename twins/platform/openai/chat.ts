/**
 * Requests one complete answer of a language model, without streaming.
 * Source: https://platform.openai.com/docs/api-reference/chat/create
 */
import { z } from "zod";
import { createWatchdog, type Endpoint, ProviderError, post, providerReason, readBytes } from "./http.ts";

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

const MAX_ANSWER_BYTES = 1024 * 1024;
const completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
});

/** @throws ProviderError whose message says why there is no answer, and holds no secret */
export async function complete(
  endpoint: Endpoint,
  model: string,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
): Promise<string> {
  const watchdog = createWatchdog(endpoint.timeoutMs, signal);
  try {
    const json = { model, messages, temperature: 0 };
    const response = await post(endpoint, "/chat/completions", { json }, watchdog);
    return contentOf(await readBytes(response, MAX_ANSWER_BYTES, watchdog));
  } catch (error) {
    throw new ProviderError(providerReason(error, watchdog));
  } finally {
    watchdog.stop();
  }
}

function contentOf(body: Buffer): string {
  let json: unknown;
  try {
    json = JSON.parse(body.toString("utf8"));
  } catch {
    throw new ProviderError("the answer is not JSON");
  }
  const read = completion.safeParse(json);
  const content = read.data?.choices[0]?.message.content;
  if (content === undefined) throw new ProviderError("the answer is not a chat completion");
  return content;
}
