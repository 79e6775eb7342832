/**
 * Runs the tool calls of a reply on the client's webhooks: one request per server, retried by its backoff plan. Never
 * fails: a call without a usable answer gets `null`, and the log says why.
 * Source: https://docs.vapi.ai/tools/custom-tools
 */

import { hostOf, postWebhook, type WebhookAnswer } from "@offhook/platform/client/webhook";
import type { Context } from "@opentelemetry/api";
import type { Logger } from "pino";
import type { CallSpans, WebhookSpan } from "../calls/call-spans.ts";
import { openAiMessage } from "../providers/openai-message.ts";
import type { ConversationMessage, ToolCall } from "../providers/provider.ts";
import type { Assistant } from "../schema/assistant.ts";
import { type Tool, toolName } from "../schema/model.ts";
import type { Server } from "../schema/server.ts";
import type { SessionParts } from "../session/contract.ts";
import type { BeginAttempt, WebhookExchanges } from "./exchanges.ts";
import {
  assistantServer,
  DEFAULT_TIMEOUT_SECONDS,
  type ReachableServer,
  serverHeaders,
  USER_AGENT,
  withUrl,
} from "./server.ts";
import { type CallAnswer, readAnswers } from "./tool-answer.ts";

/** The result the model gets for an `async` tool, which nobody waits for. */
const ASYNC_RESULT = "Success.";

/** How `arguments` travel: recordings of the vendor show both forms, so clients must take both. */
export type ArgumentsForm = "object" | "string" | "alternate";

/** The members common to all server messages of a call. */
export interface Envelope {
  [member: string]: unknown;
  artifact: Record<string, unknown>;
}

export interface ToolWebhookParts {
  callId: string;
  assistant: Assistant;
  argumentsForm: ArgumentsForm;
  /** Builds the members common to all server messages of this call: artifact, call, assistant and the like. */
  envelope(): Envelope;
  now(): number;
  /** Keeps what is sent and answered, for the tester. */
  exchanges: WebhookExchanges;
  spans: Pick<CallSpans, "webhook">;
  log: Logger;
}

export type RunTools = SessionParts["runTools"];

interface PlannedCall {
  call: ToolCall;
  tool: Tool;
  server: ReachableServer;
}

export function createToolWebhook(parts: ToolWebhookParts): RunTools {
  const { assistant, log } = parts;
  let requests = 0;

  return async (calls, conversation, signal, context) => {
    const request = (group: readonly PlannedCall[]) => ask(group, conversation, signal, context);
    const outcomes = new Map<string, string | null>(calls.map((call) => [call.id, null]));
    const planned = calls.flatMap((call) => plan(call, assistant, log));
    const background = planned.filter(isAsync);
    for (const { call } of background) outcomes.set(call.id, ASYNC_RESULT);
    for (const group of byServer(background)) void request(group);
    await Promise.all(
      byServer(planned.filter((one) => !isAsync(one))).map(async (group) => {
        for (const [id, answer] of await request(group)) {
          outcomes.set(id, answer.ok ? answer.content : null);
        }
      }),
    );
    return calls.map((call) => ({ call, content: outcomes.get(call.id) ?? null }));
  };

  async function ask(
    group: readonly PlannedCall[],
    conversation: readonly ConversationMessage[],
    signal: AbortSignal,
    context: Context | undefined,
  ): Promise<Map<string, CallAnswer>> {
    const [first] = group;
    if (!first) return new Map();
    const { server } = first;
    const form = argumentsForm(parts.argumentsForm, requests++);
    const body = JSON.stringify({ message: toolCallsMessage(group, conversation, form, parts) });
    const toolCallIds = group.map(({ call }) => call.id);
    const beginAttempt = parts.exchanges.begin({ callId: parts.callId, toolCallIds, server, body });
    const beginSpan = (attempt: number) =>
      parts.spans.webhook(server.url, serverHeaders(server), attempt, context);
    const answer = await postWithRetries(server, body, signal, { log, beginAttempt, beginSpan });
    const answers = readAnswers(answer, toolCallIds);
    for (const { call } of group) {
      const read = answers.get(call.id);
      if (read && !read.ok) {
        log.warn({ tool: call.name, host: hostOf(server.url), reason: read.reason }, "no result returned");
      }
    }
    return answers;
  }
}

function isAsync({ tool }: PlannedCall): boolean {
  return tool.type === "function" && tool.async === true;
}

/** @param request number of the request within the call, from 0 */
function argumentsForm(configured: ArgumentsForm, request: number): "object" | "string" {
  if (configured !== "alternate") return configured;
  return request % 2 === 1 ? "string" : "object";
}

function plan(call: ToolCall, assistant: Assistant, log: Logger): PlannedCall[] {
  const tool = assistant.model?.tools?.find((candidate) => toolName(candidate) === call.name);
  if (!tool) {
    log.warn({ tool: call.name }, "no result returned: the assistant has no tool of this name");
    return [];
  }
  const server = toolServer(tool, assistant);
  if (!server) {
    log.warn({ tool: call.name }, "no result returned: neither the tool nor the assistant has a server url");
    return [];
  }
  return [{ call, tool, server }];
}

/** The tool's own server, or else the assistant's (in which the organisation's server has been filled in). */
function toolServer(tool: Tool, assistant: Assistant): ReachableServer | undefined {
  return withUrl(tool.server) ?? assistantServer(assistant);
}

function byServer(planned: readonly PlannedCall[]): PlannedCall[][] {
  const groups = new Map<string, PlannedCall[]>();
  for (const one of planned) {
    const key = JSON.stringify(one.server);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()];
}

async function postWithRetries(
  server: ReachableServer,
  body: string,
  signal: AbortSignal,
  watchers: { log: Logger; beginAttempt: BeginAttempt; beginSpan(attempt: number): WebhookSpan },
): Promise<WebhookAnswer> {
  const { log, beginAttempt, beginSpan } = watchers;
  const timeoutMs = (server.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  const request = { url: server.url, userAgent: USER_AGENT, body, timeoutMs, signal };
  for (let attempt = 0; ; attempt++) {
    const noteAnswer = beginAttempt();
    const span = beginSpan(attempt);
    const answer = await postWebhook({ ...request, headers: span.headers });
    span.end(answer);
    noteAnswer(answer);
    const delayMs = retryDelayMs(server, answer, attempt);
    if (delayMs === undefined) return answer;
    log.info({ host: hostOf(server.url), attempt: attempt + 1, delayMs }, "webhook failed, trying again");
    if (!(await pause(delayMs, signal))) return { kind: "cancelled" };
  }
}

/** The wait before the next attempt; `undefined`: no further attempt. */
function retryDelayMs(server: Server, answer: WebhookAnswer, attempt: number): number | undefined {
  const backoff = server.backoffPlan;
  if (!backoff || attempt >= backoff.maxRetries || answer.kind === "cancelled") return undefined;
  if (answer.kind === "answered") {
    if (answer.status >= 200 && answer.status < 300) return undefined;
    if (backoff.excludedStatusCodes?.includes(answer.status)) return undefined;
  }
  const factor = backoff.type === "exponential" ? 2 ** attempt : 1;
  return backoff.baseDelaySeconds * 1000 * factor;
}

/** Waits. @returns false when aborted */
function pause(delayMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (elapsed: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve(elapsed);
    };
    const stop = () => finish(false);
    const timer = setTimeout(() => finish(true), delayMs);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}

/** The `tool-calls` message, with every member seen in recordings of the service. */
function toolCallsMessage(
  group: readonly PlannedCall[],
  conversation: readonly ConversationMessage[],
  form: "object" | "string",
  parts: ToolWebhookParts,
): Record<string, unknown> {
  const { artifact, ...envelope } = parts.envelope();
  const items = group.map(({ call }) => toolCallItem(call, form));
  return {
    timestamp: parts.now(),
    type: "tool-calls",
    toolCalls: items,
    toolCallList: items,
    toolWithToolCallList: group.map(({ call, tool, server }) => ({
      ...tool,
      async: tool.type === "function" ? (tool.async ?? false) : false,
      server: { timeoutSeconds: DEFAULT_TIMEOUT_SECONDS, ...server },
      messages: ("messages" in tool ? tool.messages : undefined) ?? [],
      toolCall: toolCallItem(call, form),
    })),
    ...envelope,
    artifact: artifactSeenBy(conversation, artifact),
  };
}

function toolCallItem(call: ToolCall, form: "object" | "string"): object {
  const args = form === "string" ? JSON.stringify(call.arguments) : call.arguments;
  return { id: call.id, type: "function", function: { name: call.name, arguments: args } };
}

/**
 * The artifact of a tool request: everything the model saw, including a user turn that may still continue and is
 * therefore not recorded yet.
 */
function artifactSeenBy(
  conversation: readonly ConversationMessage[],
  artifact: Record<string, unknown>,
): Record<string, unknown> {
  const messages = Array.isArray(artifact.messages) ? artifact.messages : [];
  const recorded = messages.filter((message) => message.role === "user").length;
  const heard = conversation.filter((message) => message.role === "user");
  const before = messages.findLastIndex((message) => message.role !== "tool_calls") + 1;
  const place = { time: messages.at(before)?.time ?? messages.at(-1)?.time };
  const pending = heard.slice(recorded).map(({ content }) => ({ role: "user", message: content, ...place }));
  return {
    ...artifact,
    messages: messages.toSpliced(before, 0, ...pending),
    messagesOpenAIFormatted: conversation.map(openAiMessage),
  };
}
