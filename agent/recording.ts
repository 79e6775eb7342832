/**
 * The recording of one call: a stereo WAV (caller left, agent right) and a JSON timeline. Each voice is streamed to its
 * own file, with gaps filled by silence; both files are joined after the call.
 */
import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { type FileHandle, mkdir, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { toJsonLine } from "./json.ts";
import { messageOf } from "./log.ts";
import { BYTES_PER_SAMPLE, bytesOf, SAMPLE_RATE } from "./pcm.ts";

/** Longer pauses are gaps to fill with silence; shorter ones are network jitter, and filling them would tear the sound. */
const GAP_BYTES = bytesOf(200);
/** Maximum audio per voice buffered for a slow disk; the rest becomes silence. */
const MAX_UNWRITTEN_BYTES = 2 * 1024 * 1024;
/** Longest timeline, as JSON; later events are left out. */
const MAX_TIMELINE_CHARACTERS = 4 * 1024 * 1024;
/** A voice is written in blocks of about two seconds: a write a frame costs as much as forwarding the frame. */
const BLOCK_BYTES = bytesOf(2_000);
const NO_BLOCK: Buffer = Buffer.alloc(0);
const SILENCE = Buffer.alloc(64 * 1024);
const HEADER_BYTES = 44;
const JOIN_BLOCK_SAMPLES = 32 * 1024;

export interface CallRecording {
  /** Whole samples of the caller, as they arrive. */
  callerAudio(samples: Buffer): void;
  /** Whole samples of the agent, as they are handed to the caller. */
  assistantAudio(samples: Buffer): void;
  /** Something that happened now. */
  note(event: string, details: Record<string, unknown>): void;
  /** Writes `<name>.wav` and `<name>.json`; failures are logged, for a call must not fail for its recording. */
  finish(): Promise<void>;
}

/**
 * Records a call into a folder, which is made if need be.
 * @param callId the agent's own id of the call; part of the files' names
 * @param clock a monotonic clock, in milliseconds
 */
export function startRecording(
  folder: string,
  callId: string,
  log: Logger,
  clock: () => number = () => performance.now(),
): CallRecording {
  const startedAt = new Date();
  const start = clock();
  const base = join(folder, `${startedAt.toISOString().replaceAll(/[:.]/g, "-")}-${callId}`);
  /** Events as JSON, so that their size is known. */
  const timeline: string[] = [];
  let timelineCharacters = 0;
  let failure: string | undefined;
  const fail = (error: unknown) => {
    failure ??= messageOf(error);
  };
  const ready = mkdir(folder, { recursive: true }).catch(fail);
  const caller = new VoiceFile(`${base}.caller.pcm`, ready, fail);
  const agent = new VoiceFile(`${base}.agent.pcm`, ready, fail);
  const wallBytes = () => bytesOf(clock() - start);

  /** The call's time, in bytes of one voice: wall time, or the caller's audio where a call is faster than that. */
  const now = () => Math.max(wallBytes(), caller.lengthBytes);

  async function write(): Promise<void> {
    const endBytes = Math.max(caller.lengthBytes, agent.lengthBytes);
    await Promise.all([caller.close(endBytes), agent.close(endBytes)]);
    if (failure !== undefined) throw new Error(failure);
    await joinVoices(caller.path, agent.path, endBytes, `${base}.wav`);
    await Promise.all([rm(caller.path), rm(agent.path)]);
    const content = {
      call: callId,
      startedAt: startedAt.toISOString(),
      durationMs: Math.round(endBytes / BYTES_PER_SAMPLE / (SAMPLE_RATE / 1000)),
      lostBytes: caller.lostBytes + agent.lostBytes,
      events: timeline.map((event) => JSON.parse(event)),
    };
    await writeFile(`${base}.json`, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  }

  return {
    callerAudio: (samples) => caller.add(samples, wallBytes()),
    assistantAudio: (samples) => agent.add(samples, now()),
    note(event, details) {
      const atMs = Math.round(now() / BYTES_PER_SAMPLE / (SAMPLE_RATE / 1000));
      const json = toJsonLine({ atMs, event, details });
      if (timelineCharacters + json.length > MAX_TIMELINE_CHARACTERS) return;
      timelineCharacters += json.length;
      timeline.push(json);
    },
    async finish() {
      try {
        await write();
        log.info({ file: `${base}.wav` }, "call recorded");
      } catch (error) {
        log.error({ reason: messageOf(error) }, "the call could not be recorded");
      }
    },
  };
}

/** One voice on disk; its length is its position in the call's time. */
class VoiceFile {
  readonly path: string;
  readonly #stream: Promise<WriteStream | undefined>;
  #open: WriteStream | undefined;
  #early: Buffer[] = [];
  #block: Buffer = NO_BLOCK;
  /** A block that is written and can be filled again. */
  #written: Buffer | undefined;
  #blockBytes = 0;
  #lengthBytes = 0;
  #lostBytes = 0;

  constructor(path: string, ready: Promise<unknown>, fail: (error: unknown) => void) {
    this.path = path;
    this.#stream = ready.then(async () => {
      const stream = createWriteStream(path, { mode: 0o600 });
      stream.on("error", fail);
      for (const samples of this.#early) stream.write(samples);
      this.#early = [];
      this.#open = stream;
      return stream;
    });
  }

  get lengthBytes(): number {
    return this.#lengthBytes;
  }

  /** Audio lost to a slow disk. */
  get lostBytes(): number {
    return this.#lostBytes;
  }

  /** Appends samples that arrived at `atBytes` of the call's time; fills a gap before them with silence. */
  add(samples: Buffer, atBytes: number): void {
    if ((this.#open?.writableLength ?? this.#lengthBytes) > MAX_UNWRITTEN_BYTES) {
      this.#lostBytes += samples.length;
      return;
    }
    if (atBytes - this.#lengthBytes > GAP_BYTES) this.#fill(atBytes - this.#lengthBytes);
    this.#write(samples);
  }

  /** Ends the file at the given length. */
  async close(lengthBytes: number): Promise<void> {
    this.#fill(lengthBytes - this.#lengthBytes);
    const stream = await this.#stream;
    if (stream === undefined || stream.destroyed) return;
    stream.end();
    await once(stream, "close").catch(() => {});
  }

  #fill(bytes: number): void {
    this.#flush();
    for (let left = bytes; left > 0; left -= SILENCE.length) {
      this.#enqueue(left < SILENCE.length ? SILENCE.subarray(0, left) : SILENCE);
    }
    this.#lengthBytes += Math.max(bytes, 0);
  }

  #write(samples: Buffer): void {
    this.#lengthBytes += samples.length;
    for (let at = 0; at < samples.length; ) {
      if (this.#blockBytes === this.#block.length) this.#startBlock();
      const copied = samples.copy(this.#block, this.#blockBytes, at);
      this.#blockBytes += copied;
      at += copied;
    }
  }

  #startBlock(): void {
    this.#flush();
    this.#block = this.#written ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#written = undefined;
  }

  #flush(): void {
    if (this.#blockBytes === 0) return;
    const block = this.#block;
    const samples = block.subarray(0, this.#blockBytes);
    this.#block = NO_BLOCK;
    this.#blockBytes = 0;
    this.#enqueue(samples, () => {
      this.#written = block;
    });
  }

  #enqueue(samples: Buffer, written?: () => void): void {
    if (this.#open === undefined) this.#early.push(samples);
    else this.#open.write(samples, written);
  }
}

/** Interleaves two mono files of the same length into a stereo WAV, a block at a time. */
async function joinVoices(
  leftPath: string,
  rightPath: string,
  lengthBytes: number,
  path: string,
): Promise<void> {
  const files: FileHandle[] = [];
  const openFile = async (name: string, flags: string) => {
    const file = await open(name, flags, 0o600);
    files.push(file);
    return file;
  };
  try {
    const left = await openFile(leftPath, "r");
    const right = await openFile(rightPath, "r");
    const output = await openFile(path, "w");
    await output.write(wavHeader(2 * lengthBytes));
    const leftBlock = new Int16Array(JOIN_BLOCK_SAMPLES);
    const rightBlock = new Int16Array(JOIN_BLOCK_SAMPLES);
    const stereo = new Int16Array(2 * JOIN_BLOCK_SAMPLES);
    const blockBytes = leftBlock.byteLength;
    for (let position = 0; position < lengthBytes; position += blockBytes) {
      const size = Math.min(blockBytes, lengthBytes - position);
      await left.read(leftBlock, 0, size, position);
      await right.read(rightBlock, 0, size, position);
      for (let sample = 0; sample < size / BYTES_PER_SAMPLE; sample += 1) {
        stereo[2 * sample] = leftBlock[sample] ?? 0;
        stereo[2 * sample + 1] = rightBlock[sample] ?? 0;
      }
      await output.write(stereo, 0, 2 * size);
    }
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}

/** The header of a PCM16 stereo file at the rate of the call. http://soundfile.sapp.org/doc/WaveFormat/ */
function wavHeader(dataBytes: number): Buffer {
  const channels = 2;
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("RIFF", 0, "ascii");
  header.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  header.write("WAVEfmt ", 8, "ascii");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * channels * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(channels * BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write("data", 36, "ascii");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
