/** The conversation of a call, as the model and `conversation-update` see it. */
import type { ConversationMessage, ToolCall } from "../providers/provider.ts";
import type { ToolOutcome } from "./contract.ts";
import type { Utterance } from "./utterance.ts";

/** What the assistant says in sentences `from` to `to` of an utterance, and the tools it calls then. */
export interface Said {
  type: "said";
  utterance: Utterance;
  from: number;
  to: number;
  toolCalls: ToolCall[];
}

type Entry = { type: "message"; message: ConversationMessage; turn?: number } | Said;

export class Conversation {
  #entries: Entry[];
  /** What was said to the assistant while it was busy with a reply: it comes after that reply. */
  #waiting: Entry[] = [];
  #replying = false;

  constructor(messages: readonly ConversationMessage[]) {
    this.#entries = messages.map((message) => ({ type: "message", message }));
  }

  /** All of it, what still waits included. */
  all(): ConversationMessage[] {
    return [...this.#entries, ...this.#waiting].flatMap(messageOf);
  }

  /** What the reply under way answers. */
  forModel(): ConversationMessage[] {
    return this.#entries.flatMap(messageOf);
  }

  add(message: ConversationMessage): void {
    this.#push({ type: "message", message });
  }

  /** What the user said in `turn`; heard anew, it takes the place of what was understood before. */
  addUserTurn(turn: number, content: string): void {
    const message = { role: "user" as const, content };
    const known = [...this.#entries, ...this.#waiting].find(
      (entry) => entry.type === "message" && entry.turn === turn,
    );
    if (known?.type === "message") known.message = message;
    else this.#push({ type: "message", message, turn });
  }

  /** From here to `endReply` what others say waits, so that tool results stand right behind their calls. */
  beginReply(): void {
    this.#replying = true;
  }

  endReply(): void {
    this.#replying = false;
    this.#entries.push(...this.#waiting);
    this.#waiting = [];
  }

  /** What the model says in the reply under way, from sentence `from` of `utterance` on; to be completed by the caller. */
  openSaid(utterance: Utterance, from: number): Said {
    const said: Said = { type: "said", utterance, from, to: Number.POSITIVE_INFINITY, toolCalls: [] };
    this.#entries.push(said);
    return said;
  }

  /** What the assistant says without the model. */
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
