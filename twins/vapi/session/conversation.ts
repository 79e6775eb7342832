/** The conversation of a call, as the model and `conversation-update` see it. */
import type { ConversationMessage, ToolCall } from "../providers/provider.ts";
import type { ToolOutcome } from "./contract.ts";
import type { Utterance } from "./utterance.ts";

/** Sentences `from` to `to` of an utterance, and the tool calls that follow them. */
export interface SpokenEntry {
  type: "said";
  utterance: Utterance;
  from: number;
  to: number;
  toolCalls: ToolCall[];
}

type Entry = { type: "message"; message: ConversationMessage; turn?: number } | SpokenEntry;

export class Conversation {
  #entries: Entry[];
  /** Entries that arrived during a reply; they come after it. */
  #waiting: Entry[] = [];
  #replying = false;

  constructor(messages: readonly ConversationMessage[]) {
    this.#entries = messages.map((message) => ({ type: "message", message }));
  }

  /** All entries, including those that wait for the current reply. */
  all(): ConversationMessage[] {
    return [...this.#entries, ...this.#waiting].flatMap(messageOf);
  }

  /** What the current reply answers. */
  forModel(): ConversationMessage[] {
    return this.#entries.flatMap(messageOf);
  }

  add(message: ConversationMessage): void {
    this.#push({ type: "message", message });
  }

  /** Adds what the user said in `turn`, or replaces its earlier transcript. */
  addUserTurn(turn: number, content: string): void {
    const message = { role: "user" as const, content };
    const known = [...this.#entries, ...this.#waiting].find(
      (entry) => entry.type === "message" && entry.turn === turn,
    );
    if (known?.type === "message") known.message = message;
    else this.#push({ type: "message", message, turn });
  }

  /** Until `endReply`, other entries wait, so that tool results directly follow their calls. */
  beginReply(): void {
    this.#replying = true;
  }

  endReply(): void {
    this.#replying = false;
    this.#entries.push(...this.#waiting);
    this.#waiting = [];
  }

  /** Adds what the model says from sentence `from` of `utterance` on; the caller sets `to` and `toolCalls`. */
  addReplyPart(utterance: Utterance, from: number): SpokenEntry {
    const said: SpokenEntry = { type: "said", utterance, from, to: Number.POSITIVE_INFINITY, toolCalls: [] };
    this.#entries.push(said);
    return said;
  }

  /** Adds what the assistant says without the model. */
  addLine(utterance: Utterance): void {
    this.#push({ type: "said", utterance, from: 0, to: Number.POSITIVE_INFINITY, toolCalls: [] });
  }

  addToolOutcomes(outcomes: readonly ToolOutcome[]): void {
    for (const { call, content } of outcomes) {
      this.#entries.push({
        type: "message",
        message: { role: "tool", toolCallId: call.id, name: call.name, content },
      });
    }
  }

  #push(entry: Entry): void {
    (this.#replying ? this.#waiting : this.#entries).push(entry);
  }
}

function messageOf(entry: Entry): ConversationMessage[] {
  if (entry.type === "message") return [entry.message];
  const content = entry.utterance.said(entry.from, entry.to);
  if (entry.toolCalls.length > 0) return [{ role: "assistant", content, toolCalls: entry.toolCalls }];
  return content === "" ? [] : [{ role: "assistant", content }];
}
