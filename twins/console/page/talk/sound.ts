/** The browser's sound: the audio thread, its microphone and its loudspeaker. */
import { CALLER_RATE } from "@offhook/audio/signal";
import type { MicrophoneState } from "./telephone.ts";
import type { FromWorklet, ToWorklet } from "./worklet.ts";

export type Frame = Extract<FromWorklet, { type: "frame" }>;

/** Why there is no sound, or no microphone, and what helps. */
export class SoundError extends Error {
  override name = "SoundError";
}

/** A device that does not say that it has played everything is closed after this. */
const FINISH_TIMEOUT_MS = 3_000;

const INSECURE =
  "Browsers give sound and microphone only to pages of this machine (http://localhost, http://127.0.0.1) or over https: open the console at such an address.";

/** Words for the names of getUserMedia's errors. */
const MICROPHONE_PROBLEMS: Readonly<Record<string, string>> = {
  NotAllowedError:
    "The browser was not allowed to use the microphone. Allow it beside the page's address (and in the settings of the system), then open it again. Samples can be said without it.",
  NotFoundError: "There is no microphone. Connect one, or say samples instead.",
  NotReadableError: "The microphone could not be opened; another program may be using it.",
};

/**
 * Whether the browser levels the voice. Built-in recognition compares with recordings, and a gain that changes within a
 * sentence moves it away from them, out of reach: measured, its worst stretch is then 0.66 instead of 0.47 (limit 0.65).
 */
export type Gain = "automatic" | "fixed";

export class Sound {
  readonly #onFrame: (frame: Frame) => void;
  #device: Device;
  #stream: MediaStream | undefined;
  #microphone: MicrophoneState = "open";
  #isClosed = false;

  /** Opens the loudspeaker. @throws SoundError */
  static async open(onFrame: (frame: Frame) => void): Promise<Sound> {
    if (!window.isSecureContext) throw new SoundError(INSECURE);
    return new Sound(await openDevice("call", onFrame), onFrame);
  }

  private constructor(device: Device, onFrame: (frame: Frame) => void) {
    this.#device = device;
    this.#onFrame = onFrame;
  }

  /** Rate of the device, in Hz. */
  get sampleRate(): number {
    return this.#device.context.sampleRate;
  }

  /** Asks for the microphone and opens it. @param onLost called when it goes away by itself @throws SoundError */
  async openMicrophone(gain: Gain, onLost: () => void): Promise<void> {
    if (this.#stream) return;
    const stream = await askForMicrophone(gain);
    if (this.#isClosed) {
      stopStream(stream);
      return;
    }
    this.#stream = stream;
    try {
      connect(stream, this.#device);
    } catch {
      // Firefox connects a microphone only to a device of the microphone's own rate.
      const former = this.#device;
      this.#device = await openDevice("own", this.#onFrame);
      this.setMicrophone(this.#microphone);
      connect(stream, this.#device);
      closeDevice(former);
    }
    for (const track of stream.getAudioTracks()) track.addEventListener("ended", onLost);
  }

  setMicrophone(state: MicrophoneState): void {
    this.#microphone = state;
    this.#tell({ type: "microphone", state });
  }

  /** Plays audio of the call. */
  play(samples: Int16Array): void {
    this.#tell({ type: "play", samples });
  }

  /** Says a recording instead of the microphone. */
  say(samples: Int16Array): void {
    this.#tell({ type: "say", samples });
  }

  /** Plays what came so far, then closes; the microphone is closed at once. */
  async finish(): Promise<void> {
    this.#closeMicrophone();
    const { port } = this.#device.node;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FINISH_TIMEOUT_MS);
      port.addEventListener("message", ({ data }: MessageEvent<FromWorklet>) => {
        if (data.type !== "silent") return;
        clearTimeout(timer);
        resolve();
      });
      this.#tell({ type: "finish" });
    });
    this.close();
  }

  close(): void {
    this.#closeMicrophone();
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeDevice(this.#device);
  }

  #closeMicrophone(): void {
    if (this.#stream) stopStream(this.#stream);
    this.#stream = undefined;
  }

  #tell(message: ToWorklet): void {
    this.#device.node.port.postMessage(message);
  }
}

interface Device {
  context: AudioContext;
  node: AudioWorkletNode;
}

/** @param rate the call's, if the browser can, or the device's own @throws SoundError */
async function openDevice(rate: "call" | "own", onFrame: (frame: Frame) => void): Promise<Device> {
  const context = createContext(rate);
  try {
    const address = document.querySelector<HTMLMetaElement>("meta[name=worklet]")?.content ?? "";
    await context.audioWorklet.addModule(address);
    const node = new AudioWorkletNode(context, "telephone", {
      numberOfInputs: 1,
      numberOfOutputs: 1,
      outputChannelCount: [1],
      channelCount: 1,
      channelCountMode: "explicit",
    });
    node.port.addEventListener("message", ({ data }: MessageEvent<FromWorklet>) => {
      if (data.type === "frame") onFrame(data);
    });
    node.port.start();
    node.connect(context.destination);
    await context.resume();
    return { context, node };
  } catch (error) {
    void context.close();
    throw new SoundError(
      `The browser could not open its sound: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function createContext(rate: "call" | "own"): AudioContext {
  const latencyHint = "interactive";
  if (rate === "own") return new AudioContext({ latencyHint });
  try {
    return new AudioContext({ latencyHint, sampleRate: CALLER_RATE });
  } catch {
    // A browser may refuse the rate; the audio thread resamples then.
    return new AudioContext({ latencyHint });
  }
}

function closeDevice({ context, node }: Device): void {
  const stop: ToWorklet = { type: "stop" };
  node.port.postMessage(stop);
  node.port.close();
  void context.close();
}

async function askForMicrophone(gain: Gain): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: {
        echoCancellation: true,
        noiseSuppression: true,
        autoGainControl: gain === "automatic",
        channelCount: 1,
      },
    });
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    throw new SoundError(MICROPHONE_PROBLEMS[name] ?? `The microphone could not be opened: ${error}`);
  }
}

function connect(stream: MediaStream, { context, node }: Device): void {
  context.createMediaStreamSource(stream).connect(node);
}

function stopStream(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}
