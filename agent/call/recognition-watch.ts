/**
 * Notices speech of the caller in which the runtime recognised nothing: its call socket says that the user started and
 * stopped, and then nothing at all, so that both sides wait.
 */
import { bytesOf } from "../pcm.ts";
import type { RuntimeMessage } from "./runtime-messages.ts";

/** A transcript comes within a second and a half of the speech; a slow recogniser has twice that. */
const RECOGNITION_BYTES = bytesOf(3_000);

export class RecognitionWatch {
  readonly #unrecognised: () => void;
  /** The caller's audio since it stopped to speak; `undefined` while nothing is waited for. */
  #waitedBytes: number | undefined;

  /** @param unrecognised called once for each such turn */
  constructor(unrecognised: () => void) {
    this.#unrecognised = unrecognised;
  }

  message(message: RuntimeMessage): void {
    switch (message.type) {
      case "speech-update":
        // An assistant that answers has understood, whether or not transcripts are sent.
        if (message.role === "user" && message.status === "stopped") this.#waitedBytes = 0;
        else if (message.status === "started") this.#waitedBytes = undefined;
        return;
      case "transcript":
        if (message.role === "user") this.#waitedBytes = undefined;
        return;
      default:
        return;
    }
  }

  /** Whole samples of the caller: they are the time that passes, whatever the speed of the call. */
  callerAudio(samples: Buffer): void {
    if (this.#waitedBytes === undefined) return;
    this.#waitedBytes += samples.length;
    if (this.#waitedBytes < RECOGNITION_BYTES) return;
    this.#waitedBytes = undefined;
    this.#unrecognised();
  }
}
