/** Prints a call as it happens: who says what, how long replies take, what the tools did. */
import { containsWords } from "@offhook/caller/match";
import { readResult } from "@offhook/caller/observed";
import type { ScenarioEvent, ScenarioRun } from "@offhook/caller/run-scenario";
import type { RuntimeMessage } from "@offhook/caller/sandbox-client";
import { seconds, type Terminal } from "./terminal.ts";

interface HeardTurn {
  atMs: number;
  endMs?: number;
  responseMs: number | null;
  /** Whether its text has been printed. */
  printed: boolean;
}

export class ConversationPrinter {
  readonly #terminal: Terminal;
  /** The assistant's latest turn. */
  #heard: HeardTurn | undefined;
  /** Whether the runtime is the twin, which provides transcripts. */
  #transcribed = false;
  /** Events since a turn whose text has not arrived yet, or a text whose sound has not; printed after it. */
  #buffered: ScenarioEvent[] = [];
  /** What the buffered events wait for; sound and text arrive on separate connections, in either order. */
  #waitingFor: "text" | "sound" | undefined;
  /** Whether the caller has spoken since the assistant's latest turn, so that its next text belongs to a new one. */
  #callerSpokeSince = false;
  #callerText = "";
  readonly #toolCalls = new Map<string, { message: RuntimeMessage; at: number }>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  print(event: ScenarioEvent): void {
    if (this.#waitingFor === "sound") this.#printWhileAwaitingSound(event);
    else if (this.#mustWaitForText(event) || this.#mustWaitForSound(event)) this.#buffered.push(event);
    else this.#show(event);
  }

  /** Whether an event must wait for the text of the current turn. Messages never wait: the runtime sends them in order. */
  #mustWaitForText(event: ScenarioEvent): boolean {
    if (!this.#transcribed || this.#heard === undefined || this.#heard.printed) return false;
    if (event.type === "message") return false;
    const waits =
      this.#buffered.length > 0 || event.type === "caller-speaks" || event.type === "callee-speaks";
    if (waits) this.#waitingFor = "text";
    return waits;
  }

  /** Whether a text has arrived before its sound, as it does at speeds above 1. */
  #mustWaitForSound(event: ScenarioEvent): boolean {
    if (!this.#transcribed || event.type !== "message" || event.message.role !== "assistant") return false;
    const heard = this.#heard;
    const isNext =
      heard === undefined || (heard.printed && (this.#callerSpokeSince || heard.endMs !== undefined));
    if (isNext) this.#waitingFor = "sound";
    return isNext;
  }

  #printWhileAwaitingSound(event: ScenarioEvent): void {
    if (event.type === "callee-speaks") {
      this.#show(event);
      this.#release();
    } else if (event.type === "caller-speaks") {
      // The text had no sound.
      this.#heard = { atMs: event.atMs, responseMs: null, printed: false };
      this.#release();
      this.print(event);
    } else {
      this.#buffered.push(event);
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
        this.#printUntranscribed();
        this.#callerText = event.text;
        this.#callerSpokeSince = true;
        this.#say("caller", event.atMs, event.text, event.interrupting ? "interrupts" : "");
        break;
      case "caller-spoke":
        if (event.turn.cutOff) this.#note(`cut off after ${seconds(event.turn.endMs - event.turn.startMs)}`);
        break;
      case "callee-speaks":
        this.#printUntranscribed();
        this.#heard = { atMs: event.atMs, responseMs: event.responseMs, printed: false };
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

  /** Prints the buffered events that need not wait again. */
  #release(): void {
    const held = this.#buffered;
    this.#buffered = [];
    this.#waitingFor = undefined;
    for (const event of held) this.print(event);
  }

  /** Prints what is known only after the call. */
  finish(run: ScenarioRun): void {
    this.#transcribed = false;
    this.#release();
    this.#printUntranscribed();
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
    // Only the first text of a turn has a response time.
    const responseMs = heard === undefined || heard.printed ? null : heard.responseMs;
    this.#say("agent", heard?.atMs ?? start_ms ?? 0, text, formatResponse(responseMs));
    if (heard !== undefined) heard.printed = true;
    this.#release();
  }

  #printToolCall(result: RuntimeMessage): void {
    const call = this.#toolCalls.get(result.tool_call_id ?? "");
    const { tool, wrap, cut } = this.#terminal;
    // Wall time, because the call's own clock may be held while a tool runs.
    const took = call === undefined ? 0 : performance.now() - call.at;
    const args = Object.entries(call?.message.arguments ?? {}).map(
      ([name, value]) => `${name}: ${JSON.stringify(value)}`,
    );
    const asked = `${result.name ?? "tool"}(${args.join(", ")})`;
    wrap(`${asked} ${Math.round(took)} ms`, { indent: INDENT, style: tool });
    const arrow = `${tool("→")} `;
    cut(JSON.stringify(readResult(result.text)), { indent: `${INDENT}  `, head: `${INDENT}${arrow}` });
  }

  /** Prints speech without a transcript, as from a runtime that provides none. */
  #printUntranscribed(): void {
    const heard = this.#heard;
    if (heard?.endMs === undefined || heard.printed) return;
    heard.printed = true;
    this.#say(
      "agent",
      heard.atMs,
      `(${seconds(heard.endMs - heard.atMs)} of speech)`,
      formatResponse(heard.responseMs),
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

function formatResponse(responseMs: number | null): string {
  return responseMs === null ? "" : `after ${seconds(responseMs)}`;
}

function clock(ms: number): string {
  return seconds(ms).padStart(7);
}
