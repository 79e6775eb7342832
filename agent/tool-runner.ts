/** Dispatches every tool call: validates its arguments, runs the tool within its time limit, reports the outcome. */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, context, ROOT_CONTEXT, type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import { ATTR_ERROR_TYPE } from "@opentelemetry/semantic-conventions";
import type { Logger } from "pino";
import type { ToolRegistry } from "../tools/registry.ts";
import type { Database, Tool, ToolLog } from "../tools/tool.ts";
import { toJsonLine } from "./json.ts";
import { messageOf, safeText } from "./log.ts";
import type { AgentMetrics } from "./metrics.ts";
import type { Reporter, ToolTags } from "./reporter.ts";
import { NO_TELEMETRY, type Telemetry } from "./telemetry/telemetry.ts";
import type { RequestedCall } from "./tool-calls.ts";
import type { ToolEnvironments } from "./tool-environment.ts";

/** More would crowd out the model's context; a tool should answer with less. */
const MAX_RESULT_CHARACTERS = 256 * 1024;

const MAX_REASON_CHARACTERS = 300;
/** Shorter arguments occur in any message by chance. */
const MIN_WORD_CHARACTERS = 3;

/** Of the semantic conventions for generative AI, which are not stable yet. */
const ATTR_GEN_AI_OPERATION_NAME = "gen_ai.operation.name";
const ATTR_GEN_AI_TOOL_NAME = "gen_ai.tool.name";
const ATTR_GEN_AI_TOOL_TYPE = "gen_ai.tool.type";
const ATTR_GEN_AI_TOOL_CALL_ID = "gen_ai.tool.call.id";

/** The phone call a tool runs for, as far as it is known. */
export interface ToolCaller {
  /** The runtime's id of the phone call. */
  runtimeCallId: string | undefined;
  simulationId: string | undefined;
  log: Logger;
  /** What the run's span belongs to. */
  context?: Context;
  /** Notes the tool call in the phone call's timeline. */
  note(event: string, details: Record<string, unknown>): void;
}

export interface ToolRunnerParts {
  tools: ToolRegistry;
  database: Database;
  environments: ToolEnvironments;
  reporter: Reporter;
  metrics: AgentMetrics;
  telemetry?: Telemetry;
  /** For tools that name no limit of their own. */
  defaultTimeoutMs: number;
}

/** A run of a tool, to attribute errors that escape it. */
export interface ToolRun {
  tags: ToolTags;
  arguments: unknown;
  log: Logger;
}

const runs = new AsyncLocalStorage<ToolRun>();

/** The run whose code (or a continuation of it) is executing; attributes a stray error to its tool. */
export function currentToolRun(): ToolRun | undefined {
  return runs.getStore();
}

type Outcome = "ok" | "error" | "timeout" | "invalid_arguments" | "unknown_tool";

class ToolTimeout extends Error {}

/** Runs tool calls. */
export class ToolRunner {
  readonly #parts: ToolRunnerParts;

  constructor(parts: ToolRunnerParts) {
    this.#parts = parts;
  }

  /** Runs one call and reports it. @returns what the model is told: JSON on a single line. Never rejects. */
  async run(call: RequestedCall, caller: ToolCaller): Promise<string> {
    const { metrics, reporter, tools } = this.#parts;
    const startedAt = performance.now();
    const tool = tools.get(call.name);
    const tags = { tool: tool?.name ?? "unknown", toolCallId: safeText(call.id, [], 64) };
    const log = toolLog(tags, caller.log);
    const parent = caller.context ?? ROOT_CONTEXT;
    const span = this.#startSpan(tags, parent);
    const inside = trace.setSpan(parent, span);
    const { outcome, value } = await context.with(inside, () =>
      runs.run({ tags, arguments: call.arguments, log: caller.log }, () =>
        this.#dispatch(tool, call, caller, log),
      ),
    );
    endSpan(span, outcome);
    const durationMs = performance.now() - startedAt;
    // An unknown name is no label: the model can make up any number of them.
    metrics.tools.observeMs(durationMs, { tool: tags.tool, outcome });
    const { simulationId } = caller;
    reporter.toolCall(
      { simulationId, name: call.name, tags, arguments: call.arguments, result: value, context: inside },
      caller.log,
    );
    caller.note("tool-call", { name: call.name, arguments: call.arguments, result: value });
    log.info({ outcome, durationMs: Math.round(durationMs) }, "tool call");
    const line = toJsonLine(value);
    return line.length <= MAX_RESULT_CHARACTERS ? line : errorLine(`the result of ${call.name} is too long`);
  }

  /** Of a tool call neither arguments nor result are told, which are the caller's words. */
  #startSpan({ tool, toolCallId }: ToolTags, parent: Context): Span {
    const { tracer } = this.#parts.telemetry ?? NO_TELEMETRY;
    const attributes = {
      [ATTR_GEN_AI_OPERATION_NAME]: "execute_tool",
      [ATTR_GEN_AI_TOOL_NAME]: tool,
      [ATTR_GEN_AI_TOOL_TYPE]: "function",
      ...(toolCallId === "" ? {} : { [ATTR_GEN_AI_TOOL_CALL_ID]: toolCallId }),
    };
    return tracer.startSpan(`execute_tool ${tool}`, { attributes }, parent);
  }

  async #dispatch(
    tool: Tool | undefined,
    call: RequestedCall,
    caller: ToolCaller,
    log: ToolLog,
  ): Promise<{ outcome: Outcome; value: unknown }> {
    if (tool === undefined) {
      const known = this.#parts.tools.all().map((one) => one.name);
      const error = `there is no tool ${call.name || "without a name"}; there are ${known.join(", ")}`;
      return { outcome: "unknown_tool", value: { error } };
    }
    const args = tool.parameters.safeParse(call.arguments);
    if (!args.success) {
      const problems = args.error.issues.map(
        (issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`,
      );
      return { outcome: "invalid_arguments", value: { error: problems.join("; ") } };
    }
    try {
      return { outcome: "ok", value: await this.#runInTime(tool, args.data, caller, log) };
    } catch (error) {
      const message = messageOf(error) || `${tool.name} failed`;
      log.warn({ reason: withoutWordsOf(call.arguments, message) }, "the tool failed");
      return { outcome: error instanceof ToolTimeout ? "timeout" : "error", value: { error: message } };
    }
  }

  async #runInTime(
    tool: Tool,
    args: Record<string, unknown>,
    caller: ToolCaller,
    log: ToolLog,
  ): Promise<unknown> {
    const timeoutMs = tool.timeoutMs ?? this.#parts.defaultTimeoutMs;
    const abort = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new ToolTimeout(`${tool.name} did not answer within ${timeoutMs} ms`);
        reject(error);
        abort.abort(error);
      }, timeoutMs);
    });
    // A tool may throw before its first await.
    const running = (async () =>
      tool.run(args, {
        callId: caller.runtimeCallId,
        signal: abort.signal,
        log,
        database: this.#parts.database,
        environment: this.#parts.environments(tool),
      }))();
    try {
      return await Promise.race([running, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function endSpan(span: Span, outcome: Outcome): void {
  if (outcome !== "ok") {
    span.setAttribute(ATTR_ERROR_TYPE, outcome);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** A log that tags its lines with the tool call; cheaper than a child logger per tool call. */
function toolLog(tags: ToolTags, log: Logger): ToolLog {
  return {
    info: (details, message) => log.info({ ...tags, ...details }, message),
    warn: (details, message) => log.warn({ ...tags, ...details }, message),
  };
}

/** An error's text for the log, without the caller's words, which are in the arguments that errors quote. */
export function withoutWordsOf(args: unknown, text: string): string {
  return safeText(text, wordsOf(args), MAX_REASON_CHARACTERS, "[argument]");
}

/** The argument values, longest first, because a shorter one may be part of a longer one. */
function wordsOf(args: unknown): string[] {
  const words: string[] = [];
  JSON.stringify(args, (_name, value: unknown) => {
    if (typeof value === "string" || typeof value === "number") words.push(String(value));
    return value;
  });
  return words.filter((word) => word.length >= MIN_WORD_CHARACTERS).sort((a, b) => b.length - a.length);
}

/** An error as JSON for the model. */
export function errorLine(message: string): string {
  return toJsonLine({ error: message });
}
