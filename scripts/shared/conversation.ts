/** Prints a call as it happens: who says what, how long answers take, what the tools did. */
import { containsWords } from "@offhook/caller/match";
import { readResult } from "@offhook/caller/observed";
import type { ScenarioEvent, ScenarioRun } from "@offhook/caller/run-scenario";
import type { RuntimeMessage } from "@offhook/caller/sandbox-client";
import { seconds, type Terminal } from "./terminal.ts";

interface HeardTurn {
  atMs: number;
  endMs?: number;
  responseMs: number | null;
  /** Its text has been printed. */
  told: boolean;
}

export class ConversationPrinter {
  readonly #terminal: Terminal;
  /** The assistant's turn heard last. */
  #heard: HeardTurn | undefined;
  /** The runtime shows what was said; with another one only the sound is known. */
  #transcribed = false;
  /** What happened since a sound whose text has not come yet, or a text whose sound has not: it is printed after it. */
  #held: ScenarioEvent[] = [];
  /** What the held events wait for; sound and text come on connections of their own, either may be first. */
  #heldFor: "text" | "sound" | undefined;
  /** The caller has spoken since the turn heard last: what the assistant says next belongs to another one. */
  #callerSpokeSince = false;
  #callerText = "";
  readonly #toolCalls = new Map<string, { message: RuntimeMessage; at: number }>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  print(event: ScenarioEvent): void {
    if (this.#heldFor === "sound") this.#printBeforeSound(event);
    else if (this.#awaitsText(event) || this.#isBeforeSound(event)) this.#held.push(event);
    else this.#show(event);
  }

  /** A sound's text is still to come: what is said and heard after it waits. The runtime's messages come in their order. */
  #awaitsText(event: ScenarioEvent): boolean {
    if (!this.#transcribed || this.#heard === undefined || this.#heard.told) return false;
    if (event.type === "message") return false;
    const waits = this.#held.length > 0 || event.type === "caller-speaks" || event.type === "callee-speaks";
    if (waits) this.#heldFor = "text";
    return waits;
  }

  /** A text whose sound is still on its way, as at a speed above 1: what comes meanwhile waits. */
  #isBeforeSound(event: ScenarioEvent): boolean {
    if (!this.#transcribed || event.type !== "message" || event.message.role !== "assistant") return false;
    const heard = this.#heard;
    const isNext =
      heard === undefined || (heard.told && (this.#callerSpokeSince || heard.endMs !== undefined));
    if (isNext) this.#heldFor = "sound";
    return isNext;
  }

  #printBeforeSound(event: ScenarioEvent): void {
    if (event.type === "callee-speaks") {
      this.#show(event);
      this.#release();
    } else if (event.type === "caller-speaks") {
      // It was not to be heard.
      this.#heard = { atMs: event.atMs, responseMs: null, told: false };
      this.#release();
      this.print(event);
    } else {
      this.#held.push(event);
    }
  }

  #show(event: ScenarioEvent): void {
    switch (event.type) {
      case "runtime-call":
        this.#transcribed = true;
        break;
      case "answered":
        this.#note(`answered after ${seconds(event.setupMs)}`);
        break;
      case "caller-speaks":
        this.#tellUntold();
        this.#callerText = event.text;
        this.#callerSpokeSince = true;
        this.#say("caller", event.atMs, event.text, event.interrupting ? "interrupts" : "");
        break;
      case "caller-spoke":
        if (event.turn.cutOff) this.#note(`cut off after ${seconds(event.turn.endMs - event.turn.startMs)}`);
        break;
      case "callee-speaks":
        this.#tellUntold();
        this.#heard = { atMs: event.atMs, responseMs: event.responseMs, told: false };
        this.#callerSpokeSince = false;
        break;
      case "callee-spoke":
        if (this.#heard !== undefined) this.#heard.endMs = event.turn.endMs;
        break;
      case "message":
        this.#printMessage(event.message);
        break;
      case "event":
        break;
    }
  }

  /** Prints what was held back, as far as it need not wait again. */
  #release(): void {
    const held = this.#held;
    this.#held = [];
    this.#heldFor = undefined;
    for (const event of held) this.print(event);
  }

  /** What is known only when the call is over. */
  finish(run: ScenarioRun): void {
    this.#transcribed = false;
    this.#release();
    this.#tellUntold();
    const { report } = run;
    this.#note(`${report.reason}, after ${seconds(report.durationMs)}`);
  }

  #printMessage(message: RuntimeMessage): void {
    switch (message.role) {
      case "assistant":
        this.#printAssistant(message);
        break;
      case "user":
        if (!containsWords(this.#callerText, message.text)) this.#note(`understood: "${message.text}"`);
        break;
      case "unrecognised":
        this.#note(`heard nothing, ${seconds((message.end_ms ?? 0) - (message.start_ms ?? 0))} of speech`);
        break;
      case "tool_call":
        this.#toolCalls.set(message.tool_call_id ?? "", { message, at: performance.now() });
        break;
      case "tool_result":
        this.#printToolCall(message);
        break;
    }
  }

  #printAssistant({ text, start_ms }: RuntimeMessage): void {
    const heard = this.#heard;
    // What else is said in the same turn answers nothing by itself.
    const responseMs = heard === undefined || heard.told ? null : heard.responseMs;
    this.#say("agent", heard?.atMs ?? start_ms ?? 0, text, answered(responseMs));
    if (heard !== undefined) heard.told = true;
    this.#release();
  }

  #printToolCall(result: RuntimeMessage): void {
    const call = this.#toolCalls.get(result.tool_call_id ?? "");
    const { tool, wrap, cut } = this.#terminal;
    // By the wall clock: the call's own may stand still while a tool works.
    const took = call === undefined ? 0 : performance.now() - call.at;
    const args = Object.entries(call?.message.arguments ?? {}).map(
      ([name, value]) => `${name}: ${JSON.stringify(value)}`,
    );
    const asked = `${result.name ?? "tool"}(${args.join(", ")})`;
    wrap(`${asked} ${Math.round(took)} ms`, { indent: INDENT, style: tool });
    const arrow = `${tool("→")} `;
    cut(JSON.stringify(readResult(result.text)), { indent: `${INDENT}  `, head: `${INDENT}${arrow}` });
  }

  /** Speech without a transcript, as with a runtime that shows none. */
  #tellUntold(): void {
    const heard = this.#heard;
    if (heard?.endMs === undefined || heard.told) return;
    heard.told = true;
    this.#say(
      "agent",
      heard.atMs,
      `(${seconds(heard.endMs - heard.atMs)} of speech)`,
      answered(heard.responseMs),
    );
  }

  #say(speaker: "caller" | "agent", atMs: number, text: string, remark: string): void {
    const { caller, assistant, dim, wrap } = this.#terminal;
    const who = speaker === "caller" ? caller("caller") : assistant("agent ");
    const head = `${dim(clock(atMs))}  ${who}  `;
    wrap(remark === "" ? text : `${text}  (${remark})`, { indent: INDENT, head });
  }

  #note(text: string): void {
    this.#terminal.wrap(text, { indent: INDENT, style: this.#terminal.dim });
  }
}

const INDENT = " ".repeat("   0.0 s  caller  ".length);

function answered(responseMs: number | null): string {
  return responseMs === null ? "" : `after ${seconds(responseMs)}`;
}

function clock(ms: number): string {
  return seconds(ms).padStart(7);
}
