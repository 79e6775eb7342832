/**
 * A brain that follows a script: what it heard selects a rule; the rule calls tools and speaks a template filled from
 * their results. Deterministic, without a key or a network.
 */
import { randomInt } from "node:crypto";
import type { Logger } from "pino";
import type { Brain, BrainRequest, BrainStep, ConversationMessage, ToolCall } from "./provider.ts";
import { findRule, type ScriptRule } from "./script.ts";
import { lookUp, parseTemplate, toSpeech } from "./template.ts";

const NOTHING_FITS = "Sorry, I did not catch that.";
const NO_SCRIPT = "Sorry, I have no script for this call.";
const TOOL_FAILED = "Sorry, that did not work.";
const ID_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export interface ScriptBrainParts {
  /** The rules of a simulation, or else the default rules; `undefined`: there are none. */
  rulesFor(simulationId: string | undefined): readonly ScriptRule[] | undefined;
  log: Logger;
}

/** Creates the brain of one call; it tracks which `once` rules were used and which rule waits for its tools. */
export function createScriptBrain({ rulesFor, log }: ScriptBrainParts): Brain {
  const used = new Set<number>();
  const waiting = new Map<string, ScriptRule>();

  async function* reply(request: BrainRequest): AsyncGenerator<BrainStep> {
    const last = request.conversation.at(-1);
    if (last?.role === "tool") {
      const rule = waiting.get(last.toolCallId);
      if (rule) yield* finish(rule, request.conversation, log);
      return;
    }
    const rules = rulesFor(request.simulationId);
    if (!rules) {
      log.warn(
        { simulationId: request.simulationId },
        "no script for this call; upload one to the scripts table",
      );
      yield { type: "say", text: NO_SCRIPT };
      return;
    }
    const heard = last?.role === "user" ? last.content : "";
    const found = findRule(rules, heard, (position) => !used.has(position));
    if (!found) {
      log.warn({ heard }, "no rule of the script fits what was heard");
      yield { type: "say", text: NOTHING_FITS };
      return;
    }
    if (found.rule.once) used.add(found.position);
    if (found.rule.call) {
      const calls = found.rule.call.map(
        (call): ToolCall => ({ id: newCallId(), name: call.tool, arguments: call.arguments }),
      );
      for (const call of calls) waiting.set(call.id, found.rule);
      yield { type: "call-tools", calls };
      return;
    }
    yield* finish(found.rule, request.conversation, log);
  }

  return { reply };
}

/** Speaks the rule's text once its tool results are there. */
function* finish(
  rule: ScriptRule,
  conversation: readonly ConversationMessage[],
  log: Logger,
): Generator<BrainStep> {
  const results = lastResults(conversation);
  const failed = rule.call?.some((call) => isFailure(results.get(call.tool))) ?? false;
  const template = failed ? (rule.say_on_error ?? TOOL_FAILED) : rule.say;
  if (template !== undefined) yield { type: "say", text: fill(template, results, log) };
  if (rule.end_call) yield { type: "end-call" };
}

/** The latest result of each tool, by name; `null` when none came back. */
function lastResults(conversation: readonly ConversationMessage[]): Map<string, unknown> {
  const results = new Map<string, unknown>();
  for (const message of conversation) {
    if (message.role === "tool") results.set(message.name, readResult(message.content));
  }
  return results;
}

function readResult(content: string | null): unknown {
  if (content === null) return null;
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}

function isFailure(result: unknown): boolean {
  if (result === null || result === undefined) return true;
  return typeof result === "object" && Object.hasOwn(result, "error");
}

/** Fills the places of a template; a place without a value becomes "unknown" and is logged. */
function fill(template: string, results: ReadonlyMap<string, unknown>, log: Logger): string {
  return parseTemplate(template)
    .map((part) => {
      if (part.kind === "text") return part.text;
      const [tool = "", ...path] = part.path;
      const result = results.get(tool);
      const value = lookUp(result, path);
      if (value !== undefined && value !== null) return toSpeech(value);
      const has = result !== null && typeof result === "object" ? Object.keys(result) : [];
      log.warn({ place: part.source, has }, "the script names a value that the tool's result does not have");
      return "unknown";
    })
    .join("");
}

/** An id like those of models: `call_` and 24 letters and digits. */
function newCallId(): string {
  return `call_${Array.from({ length: 24 }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join("")}`;
}
