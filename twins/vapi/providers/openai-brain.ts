/**
 * A brain on any OpenAI-compatible `/chat/completions`: streamed, with tools, spoken sentence by sentence as the text
 * arrives. A failing model leads to an apology or ends the call, so the caller is never left in silence.
 * Source: https://platform.openai.com/docs/api-reference/chat/streaming
 */

import { hostOf } from "@offhook/platform/client/webhook";
import {
  createWatchdog,
  type Endpoint,
  ProviderError,
  post,
  providerReason,
  readBytes,
  type Watchdog,
} from "@offhook/platform/openai/http";
import type { Logger } from "pino";
import { z } from "zod";
import { openAiMessage } from "./openai-message.ts";
import {
  answerTimeoutMs,
  type Brain,
  type BrainRequest,
  type BrainStep,
  CallFailure,
  type ToolCall,
} from "./provider.ts";
import { createSentenceCutter } from "./sentence-cutter.ts";
import { readEventData } from "./server-sent-events.ts";

const APOLOGY = "Sorry, I am having trouble answering right now. Could you say that again?";
const MAX_TOOL_CALLS = 16;
const MAX_REPLY_CHARACTERS = 32_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

const deltaSchema = z.object({
  content: z.string().nullish(),
  tool_calls: z
    .array(
      z.object({
        index: z.number().int().min(0).default(0),
        id: z.string().nullish(),
        function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
      }),
    )
    .nullish(),
});

const chunkSchema = z.object({
  choices: z
    .array(z.object({ delta: deltaSchema.nullish(), finish_reason: z.string().nullish() }))
    .default([]),
  error: z.unknown().optional(),
});
type Chunk = z.output<typeof chunkSchema>;

/** A complete answer, from a server that does not stream. */
const completionSchema = z.object({ choices: z.array(z.object({ message: deltaSchema })).min(1) });

/** The members of a request that limit its answer. */
export type AnswerLimits = (model: string, asked: BrainRequest["model"]) => Record<string, number>;

/** The assistant's own limits. */
export const assistantLimits: AnswerLimits = (_model, { temperature, maxTokens }) => ({
  temperature,
  max_tokens: maxTokens,
});

/**
 * The assistant's limits, except for OpenAI's reasoning models: they refuse `max_tokens` and a temperature, and their own
 * limit would include the reasoning tokens.
 * Source: https://platform.openai.com/docs/guides/reasoning
 */
export const openAiLimits: AnswerLimits = (model, asked) =>
  REASONING_MODELS.some((name) => model.startsWith(name)) ? {} : assistantLimits(model, asked);

const REASONING_MODELS = ["o1", "o3", "o4", "gpt-5"];

export interface OpenAiBrainParts {
  endpoint: Endpoint;
  /** Requested instead of the model that the assistant names. */
  model: string | undefined;
  limits: AnswerLimits;
  /** Further members of each request; a completion's own members take precedence. */
  members?: () => Record<string, unknown>;
  /** Why the call ends when the model fails, by the status it answered. Without it the assistant apologises. */
  endedReason?: (status: number | undefined) => string;
  log: Logger;
}

export function createOpenAiBrain(parts: OpenAiBrainParts): Brain {
  const { endpoint, model, limits, members, endedReason, log } = parts;
  async function* reply(request: BrainRequest, signal: AbortSignal): AsyncGenerator<BrainStep> {
    const watchdog = createWatchdog(endpoint.timeoutMs, signal);
    try {
      const name = model ?? request.model.model;
      const json = { ...members?.(), ...completionBody(request, name), ...limits(name, request.model) };
      const response = await post(endpoint, "/chat/completions", { json }, watchdog);
      yield* steps(isJson(response) ? readWhole(response, watchdog) : readChunks(response, watchdog.alive));
    } catch (error) {
      if (signal.aborted) return;
      const host = hostOf(endpoint.baseUrl);
      log.error({ host, reason: providerReason(error, watchdog) }, "the model did not answer");
      if (endedReason) throw new CallFailure(endedReason(statusOf(error)));
      yield { type: "say", text: APOLOGY };
    } finally {
      watchdog.stop();
    }
  }
  return { reply, stepTimeoutMs: answerTimeoutMs(endpoint) };
}

function statusOf(error: unknown): number | undefined {
  return error instanceof ProviderError ? error.status : undefined;
}

function isJson(response: Response): boolean {
  return (response.headers.get("content-type") ?? "").startsWith("application/json");
}

async function* readWhole(response: Response, watchdog: Watchdog): AsyncGenerator<Chunk> {
  const body = await readBytes(response, MAX_ANSWER_BYTES, watchdog);
  const answer = completionSchema.safeParse(jsonOf(body.toString("utf8"), "the answer"));
  if (!answer.success) throw new ProviderError("the answer is not a chat completion");
  yield {
    choices: answer.data.choices.map(({ message }) => ({
      delta: { ...message, tool_calls: message.tool_calls?.map((call, index) => ({ ...call, index })) },
    })),
  };
}

async function* readChunks(response: Response, alive: () => void): AsyncGenerator<Chunk> {
  if (!response.body) throw new ProviderError("the answer has no body");
  let finished = false;
  for await (const data of readEventData(response.body, alive)) {
    if (data.trim() === "[DONE]") {
      finished = true;
      break;
    }
    const chunk = readChunk(data);
    finished ||= chunk.choices.some(({ finish_reason }) => Boolean(finish_reason));
    yield chunk;
  }
  if (!finished) throw new ProviderError("the stream broke off");
}

function readChunk(data: string): Chunk {
  const chunk = chunkSchema.safeParse(jsonOf(data, "a chunk of the stream"));
  if (!chunk.success) throw new ProviderError("a chunk of the stream is not a chat completion");
  if (chunk.data.error !== undefined) throw new ProviderError("the stream reports an error");
  return chunk.data;
}

function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProviderError(`${what} is not JSON`);
  }
}

async function* steps(chunks: AsyncIterable<Chunk>): AsyncGenerator<BrainStep> {
  const cutter = createSentenceCutter();
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  let characters = 0;
  for await (const chunk of chunks) {
    const delta = chunk.choices[0]?.delta;
    const text = delta?.content ?? "";
    characters += text.length;
    for (const piece of cutter.push(text)) yield { type: "say", text: piece };
    for (const part of delta?.tool_calls ?? []) {
      const call = calls.get(part.index) ?? { id: "", name: "", arguments: "" };
      call.id ||= part.id ?? "";
      call.name += part.function?.name ?? "";
      call.arguments += part.function?.arguments ?? "";
      characters += part.function?.arguments?.length ?? 0;
      calls.set(part.index, call);
    }
    if (characters > MAX_REPLY_CHARACTERS)
      throw new ProviderError(`the answer is longer than ${MAX_REPLY_CHARACTERS} characters`);
    if (calls.size > MAX_TOOL_CALLS)
      throw new ProviderError(`the answer calls more than ${MAX_TOOL_CALLS} tools`);
  }
  for (const piece of cutter.flush()) yield { type: "say", text: piece };
  if (calls.size > 0) yield { type: "call-tools", calls: [...calls.values()].map(toolCall) };
}

function toolCall(call: { id: string; name: string; arguments: string }): ToolCall {
  return {
    id: call.id || `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`,
    name: call.name,
    arguments: toolArguments(call),
  };
}

function toolArguments(call: { name: string; arguments: string }): Record<string, unknown> {
  if (call.arguments.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(call.arguments);
    return z.record(z.string(), z.unknown()).parse(value);
  } catch {
    throw new ProviderError(`the arguments for ${call.name} are not a JSON object`);
  }
}

function completionBody(request: BrainRequest, model: string): object {
  return {
    model,
    stream: true,
    messages: request.conversation.map(openAiMessage),
    ...(request.tools.length > 0
      ? { tools: request.tools.map((tool) => ({ type: "function", function: tool })), tool_choice: "auto" }
      : {}),
  };
}
