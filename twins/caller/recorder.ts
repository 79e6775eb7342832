/**
 * Streams a call to a stereo WAV file (caller left, callee right), so memory does not grow with its length. The callee's
 * audio is placed when it arrives; audio faster than real time is queued and played out in order.
 */
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { CALLER_RATE, samplesToBytes } from "@offhook/audio/pcm";
import wavefile from "wavefile";

const RIFF_SIZE_AT = 4;
const DATA_SIZE_AT = 40;
/** Maximum queued audio of the callee; more is not recorded. */
const MAX_AHEAD_SAMPLES = 60 * CALLER_RATE;
/** Bytes collected before each write. */
const BLOCK_BYTES = 256 * 1024;

export class CallRecorder {
  readonly #file: FileHandle;
  readonly #ahead: Int16Array[] = [];
  #aheadSamples = 0;
  #block: Buffer[] = [];
  #blockBytes = 0;
  #dataBytes = 0;
  #writing: Promise<unknown> = Promise.resolve();
  #failure: Error | undefined;

  /** @throws when the file cannot be created */
  static async open(path: string): Promise<CallRecorder> {
    await mkdir(dirname(path), { recursive: true });
    const recorder = new CallRecorder(await open(path, "w"));
    recorder.#write(emptyWav());
    return recorder;
  }

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Writes a frame of the caller, together with the callee's queued audio. */
  writeFrame(caller: Int16Array): void {
    const callee = this.#takeAhead(caller.length);
    const both = new Int16Array(caller.length * 2);
    for (const [at, sample] of caller.entries()) {
      both[2 * at] = sample;
      both[2 * at + 1] = callee[at] ?? 0;
    }
    this.#dataBytes += both.byteLength;
    this.#write(samplesToBytes(both));
  }

  /** Queues audio of the callee. */
  bufferCallee(callee: Int16Array): void {
    // Trailing silence is the default anyway; queued, a burst of it would delay later speech.
    const last = callee.findLastIndex((sample) => sample !== 0);
    if (last === -1 || this.#aheadSamples > MAX_AHEAD_SAMPLES) return;
    this.#ahead.push(callee.slice(0, last + 1));
    this.#aheadSamples += last + 1;
  }

  /** Completes the file. @throws when it could not be written */
  async close(): Promise<void> {
    this.#flush();
    await this.#writing;
    const sizes = Buffer.alloc(4);
    sizes.writeUInt32LE(DATA_SIZE_AT - RIFF_SIZE_AT + this.#dataBytes);
    await this.#file.write(sizes, 0, 4, RIFF_SIZE_AT);
    sizes.writeUInt32LE(this.#dataBytes);
    await this.#file.write(sizes, 0, 4, DATA_SIZE_AT);
    await this.#file.close();
    if (this.#failure !== undefined) throw this.#failure;
  }

  #takeAhead(wanted: number): Int16Array {
    const taken = new Int16Array(wanted);
    let filled = 0;
    while (filled < wanted) {
      const [piece] = this.#ahead;
      if (piece === undefined) break;
      const part = piece.subarray(0, wanted - filled);
      taken.set(part, filled);
      filled += part.length;
      if (part.length === piece.length) this.#ahead.shift();
      else this.#ahead[0] = piece.subarray(part.length);
    }
    this.#aheadSamples -= filled;
    return taken;
  }

  #write(bytes: Buffer): void {
    this.#block.push(bytes);
    this.#blockBytes += bytes.byteLength;
    if (this.#blockBytes >= BLOCK_BYTES) this.#flush();
  }

  #flush(): void {
    const block = Buffer.concat(this.#block);
    this.#block = [];
    this.#blockBytes = 0;
    this.#writing = this.#writing
      .then(() => this.#file.appendFile(block))
      .catch((error: unknown) => {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
      });
  }
}

/** The header of a stereo PCM16 file without samples; its two sizes are filled in at the end. */
function emptyWav(): Buffer {
  const wav = new wavefile.WaveFile();
  wav.fromScratch(2, CALLER_RATE, "16", new Int16Array(0));
  return Buffer.from(wav.toBuffer());
}
