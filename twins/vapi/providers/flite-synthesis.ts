/** Embedded speech synthesis: Flite in worker threads, with an LRU cache of sentences. */
import { availableParallelism } from "node:os";
import type { Sentence } from "./flite/flite-worker.ts";
import { type FliteVoice, fliteVoice } from "./flite/voices.ts";
import type { Synthesis } from "./provider.ts";
import { SharedWork } from "./shared-work.ts";
import { Shared } from "./threads/shared.ts";
import { WorkerPool } from "./threads/worker-pool.ts";

/** About two minutes of speech. */
export const MAX_TEXT_LENGTH = 2_000;

export interface FliteSynthesisOptions {
  /** Worker threads. */
  threads?: number;
  /** Size of the cache; a second of speech takes 32 KB. */
  cacheBytes?: number;
}

export interface FliteSynthesis extends Synthesis {
  /** Starts the threads before the first sentence. */
  warm(): void;
  close(): Promise<void>;
}

/** Synthesisers with the same options share threads and cache within a process; the last one closes them. */
const speakers = new Shared<Speaker>();

/**
 * The audio that `speak` returns is cached and shared: do not write to it. Text without letters or digits gives no
 * samples. `speak` throws the signal's reason when aborted, and an Error for text longer than `MAX_TEXT_LENGTH`.
 */
export function createFliteSynthesis({
  threads = Math.min(4, availableParallelism()),
  cacheBytes = 32 * 1024 * 1024,
}: FliteSynthesisOptions = {}): FliteSynthesis {
  const lease = speakers.lease(`${threads} ${cacheBytes}`, () => new Speaker(threads, cacheBytes));
  return {
    async speak(text, voice, signal) {
      const sentence = readSentence(text, fliteVoice(voice));
      return sentence === undefined ? new Int16Array(0) : lease.value.speak(sentence, signal);
    },
    warm: () => lease.value.warm(),
    close: () => lease.release(),
  };
}

/** The worker threads and their cache. */
class Speaker {
  readonly #pool: WorkerPool<Sentence, Int16Array>;
  readonly #cache: SharedWork<Sentence, Int16Array>;

  constructor(threads: number, cacheBytes: number) {
    const file = new URL("./flite/flite-worker.ts", import.meta.url);
    const pool = new WorkerPool<Sentence, Int16Array>({ file, threads, maxWaiting: 1_000 });
    this.#pool = pool;
    this.#cache = new SharedWork({
      key: ({ text, voice }) => `${voice} ${text}`,
      run: (sentence, signal) => pool.run(sentence, signal),
      sizeBytes: (audio) => audio.byteLength,
      maxBytes: cacheBytes,
    });
  }

  speak(sentence: Sentence, signal: AbortSignal): Promise<Int16Array> {
    return this.#cache.get(sentence, signal);
  }

  warm(): void {
    this.#pool.warm();
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** `undefined` when there is nothing to say. */
function readSentence(text: string, voice: FliteVoice): Sentence | undefined {
  if (text.length > MAX_TEXT_LENGTH) {
    throw new Error(
      `a text of ${text.length} characters is too long to speak: the limit is ${MAX_TEXT_LENGTH}`,
    );
  }
  const plain = toPlainAscii(text);
  return /[a-z0-9]/i.test(plain) ? { text: plain, voice } : undefined;
}

/** Flite reads ASCII: drops accents, replaces typographic marks by plain ones and everything else by a space. */
function toPlainAscii(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[\u201c\u201d]/g, '"')
    .replace(/[\u2010-\u2015]/g, "-")
    .replace(/[^\x20-\x7e]/g, " ")
    .replace(/ +/g, " ")
    .trim();
}
