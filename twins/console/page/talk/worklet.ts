/** The program of the audio thread: a node with the microphone as its input and the assistant's voice as its output. */
import { type MicrophoneState, Telephone } from "./telephone.ts";

/** What the page tells the audio thread. */
export type ToWorklet =
  | { type: "play"; samples: Int16Array }
  | { type: "say"; samples: Int16Array }
  | { type: "microphone"; state: MicrophoneState }
  /** Asks for `silent` once everything was played. */
  | { type: "finish" }
  | { type: "stop" };

/** What the audio thread tells the page. */
export type FromWorklet =
  | {
      type: "frame";
      said: Int16Array<ArrayBuffer>;
      saidPeak: number;
      heardPeak: number;
      endsSample: boolean;
      queuedSamples: number;
    }
  | { type: "silent" };

/** Of the scope that worklets run in, for which TypeScript has no library. */
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;
declare const sampleRate: number;

class TelephoneProcessor extends AudioWorkletProcessor {
  readonly #telephone = new Telephone(sampleRate);
  #state: "running" | "finishing" | "stopped" = "running";

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<ToWorklet>) => this.#obey(data);
  }

  process([input]: Float32Array[][], [output]: Float32Array[][]): boolean {
    const [first, ...others] = output ?? [];
    if (this.#state === "stopped" || first === undefined) return this.#state !== "stopped";
    for (const frame of this.#telephone.process(input?.[0], first)) {
      this.#tell({ type: "frame", ...frame }, [frame.said.buffer]);
    }
    for (const channel of others) channel.set(first);
    if (this.#state === "finishing" && this.#telephone.isSilent) {
      this.#state = "running";
      this.#tell({ type: "silent" }, []);
    }
    return true;
  }

  #tell(message: FromWorklet, transfer: Transferable[]): void {
    this.port.postMessage(message, transfer);
  }

  #obey(message: ToWorklet): void {
    switch (message.type) {
      case "play":
        this.#telephone.play(message.samples);
        return;
      case "say":
        this.#telephone.say(message.samples);
        return;
      case "microphone":
        this.#telephone.setMicrophone(message.state);
        return;
      case "finish":
        this.#state = "finishing";
        return;
      case "stop":
        this.#state = "stopped";
    }
  }
}

registerProcessor("telephone", TelephoneProcessor);
