/**
 * Detects caller speech in which the runtime recognised nothing: its call socket reports that the user started and
 * stopped, and then sends nothing, so that both sides wait.
 */
import { bytesOf } from "../pcm.ts";
import type { RuntimeMessage } from "./runtime-messages.ts";

/** A transcript comes within a second and a half of the speech; a slow recogniser has twice that. */
const RECOGNITION_BYTES = bytesOf(3_000);

export class RecognitionWatch {
  readonly #onUnrecognised: () => void;
  /** Caller audio since the end of its speech; `undefined` while no transcript is expected. */
  #waitedBytes: number | undefined;
  /** The speech has a transcript or an answer; both may come before its end is reported. */
  #recognised = false;
  /** A transcript waits for its answer, which is then the answer to whatever the caller adds. */
  #answerDue = false;

  /** @param onUnrecognised called once for each such turn */
  constructor(onUnrecognised: () => void) {
    this.#onUnrecognised = onUnrecognised;
  }

  message(message: RuntimeMessage): void {
    switch (message.type) {
      case "speech-update":
        if (message.role === "user") this.#userSpeech(message.status);
        else this.#assistantSpeech(message.status);
        return;
      case "transcript":
        if (message.role !== "user") return;
        this.#answerDue = true;
        this.#noteRecognised();
        return;
      default:
        return;
    }
  }

  /** Whole samples of the caller; they count the time, so the speed of the call does not matter. */
  callerAudio(samples: Buffer): void {
    if (this.#waitedBytes === undefined) return;
    this.#waitedBytes += samples.length;
    if (this.#waitedBytes < RECOGNITION_BYTES) return;
    this.#waitedBytes = undefined;
    this.#onUnrecognised();
  }

  #userSpeech(status: string): void {
    if (status === "started") {
      this.#recognised = this.#answerDue;
      this.#waitedBytes = undefined;
    } else if (status === "stopped" && !this.#recognised) {
      this.#waitedBytes = 0;
    }
  }

  #assistantSpeech(status: string): void {
    this.#answerDue = false;
    // An answering assistant has recognised the speech, whether or not transcripts are sent.
    if (status === "started") this.#noteRecognised();
  }

  #noteRecognised(): void {
    this.#recognised = true;
    this.#waitedBytes = undefined;
  }
}
