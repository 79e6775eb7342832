/** One call from the page to an agent's `/voice`: PCM16 at 24 kHz both ways, in frames of 20 ms. */
import { FRAME_MS } from "@offhook/audio/signal";
import { type ReadonlySignal, signal } from "@preact/signals";
import { SentAudio } from "./sent-audio.ts";
import { type Frame, type Gain, Sound } from "./sound.ts";

export type PhoneState =
  | { name: "dialling" }
  /** The agent took the call; nothing was heard of it yet. */
  | { name: "ringing" }
  | { name: "talking" }
  | { name: "ended"; end: CallEnd };

export interface CallEnd {
  /** `refused`: there was no call, because the agent let nobody in or does not answer. */
  by: "caller" | "agent" | "refused" | "browser";
  /** Close code of the connection. */
  code: number;
  /** In words: the reason that came with the code, or what the code means. */
  reason: string;
}

export type Microphone = "none" | "open" | "muted";

/** Largest amplitude of either side in the last 20 ms, from 0 to 1. */
export interface Levels {
  caller: number;
  assistant: number;
}

export interface DialOptions {
  /** The agent's voice channel. */
  url: string;
  /** Names the call, so that it can be found among the sandbox's calls. */
  simulationId: string;
  /** `VOICE_TOKEN` of the agent; empty for none. */
  token: string;
  gain: Gain;
}

const HUNG_UP = 1000;
const NO_CONNECTION = 1006;
const FRAMES_PER_SECOND = 1_000 / FRAME_MS;
/** Audio that a slow connection may hold back; what is said meanwhile is lost, as on a telephone. */
const MAX_BUFFERED_BYTES = 48_000;

const MEANINGS: Readonly<Record<number, string>> = {
  1000: "the call is over",
  1001: "the agent shuts down",
  1003: "the agent did not understand what the page sent",
  1006: "the connection broke",
  1009: "the agent did not understand what the page sent",
  1011: "the agent failed; its log says why",
};

/** What a browser tells of a refused connection is nothing at all. */
const REFUSED =
  "the agent let nobody in, or does not answer. Does it run (npm run dev)? If it has a VOICE_TOKEN, give it above. It refuses more calls than MAX_CALLS, and pages of another machine unless their origin is in ALLOWED_ORIGINS; its log says which it was.";
const NEW_AGENT =
  "this agent started after the page was opened, and the page may call only those that it knew then: load the page again.";

export class PhoneCall {
  readonly simulationId: string;
  readonly sent = new SentAudio();
  readonly #state = signal<PhoneState>({ name: "dialling" });
  readonly #levels = signal<Levels>({ caller: 0, assistant: 0 });
  readonly #microphone = signal<Microphone>("none");
  /** The name of the sample that is being said. */
  readonly #saying = signal<string | undefined>(undefined);
  readonly #elapsedMs = signal(0);
  readonly #socket: WebSocket;
  readonly #sound: Sound;
  readonly #gain: Gain;
  #half: number | undefined;
  #sentFrames = 0;
  readonly #over = new AbortController();
  #end: CallEnd | undefined;

  /** Opens sound and, if asked to, the microphone; then dials. @throws SoundError without sound or the microphone */
  static async dial(options: DialOptions, microphone: "open" | "none"): Promise<PhoneCall> {
    let call: PhoneCall | undefined;
    const sound = await Sound.open((frame) => call?.takeFrame(frame));
    try {
      if (microphone === "open") await sound.openMicrophone(options.gain, () => call?.loseMicrophone());
      call = new PhoneCall(options, sound, microphone);
      return call;
    } catch (error) {
      sound.close();
      throw error;
    }
  }

  private constructor(options: DialOptions, sound: Sound, microphone: "open" | "none") {
    const { url, simulationId, token } = options;
    this.simulationId = simulationId;
    this.#gain = options.gain;
    this.#sound = sound;
    this.#microphone.value = microphone;
    this.#socket = new WebSocket(voiceAddress(url, simulationId, token));
    this.#socket.binaryType = "arraybuffer";
    const isBlocked = ({ blockedURI }: SecurityPolicyViolationEvent) => {
      if (!blockedURI.startsWith(new URL(url).origin)) return;
      this.#end ??= { by: "browser", code: NO_CONNECTION, reason: NEW_AGENT };
      // Chromium leaves a blocked connection as it is, and says nothing more.
      this.#closed(NO_CONNECTION, "");
    };
    document.addEventListener("securitypolicyviolation", isBlocked, { signal: this.#over.signal });
    this.#socket.addEventListener("open", () => {
      if (this.#state.peek().name === "dialling") this.#state.value = { name: "ringing" };
    });
    this.#socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
      if (data instanceof ArrayBuffer) this.#hear(new Uint8Array(data));
    });
    this.#socket.addEventListener("close", ({ code, reason }) => this.#closed(code, reason));
  }

  get state(): ReadonlySignal<PhoneState> {
    return this.#state;
  }

  get levels(): ReadonlySignal<Levels> {
    return this.#levels;
  }

  get microphone(): ReadonlySignal<Microphone> {
    return this.#microphone;
  }

  get saying(): ReadonlySignal<string | undefined> {
    return this.#saying;
  }

  /** Audio sent so far, in whole seconds' steps. */
  get elapsedMs(): ReadonlySignal<number> {
    return this.#elapsedMs;
  }

  /** Rate of the browser's sound, in Hz. */
  get deviceRate(): number {
    return this.#sound.sampleRate;
  }

  /** @throws SoundError when the browser gives no microphone */
  async openMicrophone(): Promise<void> {
    await this.#sound.openMicrophone(this.#gain, () => this.loseMicrophone());
    if (this.#state.peek().name !== "ended") this.#setMicrophone("open");
  }

  mute(): void {
    if (this.#microphone.peek() === "open") this.#setMicrophone("muted");
  }

  unmute(): void {
    if (this.#microphone.peek() === "muted") this.#setMicrophone("open");
  }

  /** Says a recording as if it came from the microphone. */
  say(name: string, samples: Int16Array): void {
    this.#sound.say(samples);
    this.sent.beginSample();
    this.#saying.value = name;
  }

  hangUp(): void {
    if (this.#end) return;
    this.#end = { by: "caller", code: HUNG_UP, reason: "you hung up" };
    this.#sound.close();
    this.#socket.close(HUNG_UP);
    if (this.#state.peek().name === "dialling") this.#closed(NO_CONNECTION, "");
  }

  #setMicrophone(state: "open" | "muted"): void {
    this.#sound.setMicrophone(state);
    this.#microphone.value = state;
  }

  /** The microphone went away by itself. */
  private loseMicrophone(): void {
    this.#microphone.value = "none";
  }

  private takeFrame({ said, saidPeak, heardPeak, endsSample }: Frame): void {
    const isOpen = this.#socket.readyState === WebSocket.OPEN;
    this.#levels.value = { caller: isOpen ? saidPeak : 0, assistant: heardPeak };
    if (isOpen && this.#socket.bufferedAmount <= MAX_BUFFERED_BYTES) this.#send(said);
    if (!endsSample) return;
    this.#saying.value = undefined;
    this.sent.endSample();
  }

  #send(said: Int16Array<ArrayBuffer>): void {
    this.#socket.send(said);
    this.sent.push(said);
    this.#sentFrames += 1;
    if (this.#sentFrames % FRAMES_PER_SECOND === 0) this.#elapsedMs.value = this.#sentFrames * FRAME_MS;
  }

  /** A message may end in the middle of a sample; the other half begins the next one. */
  #hear(bytes: Uint8Array): void {
    const half = this.#half === undefined ? [] : [this.#half];
    const all = new Uint8Array(half.length + bytes.length);
    all.set(half);
    all.set(bytes, half.length);
    const whole = all.length - (all.length % 2);
    this.#half = all[whole];
    if (whole === 0) return;
    this.#sound.play(new Int16Array(all.buffer, 0, whole / 2));
    if (this.#state.peek().name === "ringing") this.#state.value = { name: "talking" };
  }

  #closed(code: number, reason: string): void {
    const { name } = this.#state.peek();
    if (name === "ended") return;
    this.#over.abort();
    const wasOpen = name !== "dialling";
    const end = this.#end ?? this.#endOf(code, reason, wasOpen);
    this.#end = end;
    this.#state.value = { name: "ended", end: { ...end, code } };
    this.#microphone.value = "none";
    this.#saying.value = undefined;
    if (end.by === "agent") void this.#sound.finish();
    else this.#sound.close();
  }

  #endOf(code: number, reason: string, wasOpen: boolean): CallEnd {
    if (!wasOpen) return { by: "refused", code, reason: REFUSED };
    return { by: "agent", code, reason: reason || (MEANINGS[code] ?? "the agent ended the call") };
  }
}

/** The address with what a browser cannot set as a header. */
function voiceAddress(url: string, simulationId: string, token: string): string {
  const address = new URL(url);
  address.searchParams.set("simulation", simulationId);
  if (token !== "") address.searchParams.set("token", token);
  return address.href;
}
