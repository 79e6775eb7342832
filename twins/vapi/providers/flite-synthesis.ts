/** Speech synthesis without a vendor: Flite, in a few threads, with the sentences spoken lately kept. */
import { availableParallelism, tmpdir } from "node:os";
import { makeTemporaryFolder, type TemporaryFolder } from "@offhook/platform/base/temporary-folder";
import type { SpeakRequest } from "./flite/flite-worker.ts";
import { type FliteVoice, fliteVoice } from "./flite/voices.ts";
import type { Synthesis } from "./provider.ts";
import { SharedWork } from "./shared-work.ts";
import { Shared } from "./threads/shared.ts";
import { WorkerPool } from "./threads/worker-pool.ts";

/** The longest text spoken at once: about two minutes. */
export const LONGEST_TEXT = 2_000;

export interface FliteSynthesisOptions {
  /** Threads that speak. */
  threads?: number;
  /** Memory for sentences spoken before; 32 KB a second. */
  cacheBytes?: number;
}

export interface FliteSynthesis extends Synthesis {
  /** Starts the threads ahead of the first sentence. */
  warm(): void;
  close(): Promise<void>;
}

/** All synthesisers of a process that are set up alike share their threads and what they have spoken. */
const speakers = new Shared<Speaker>();

/**
 * The audio `speak` answers is shared between all who asked for the same sentence: it is not to be written to.
 * Text with nothing to say in it gives no samples. `speak` throws the signal's reason when aborted, and an Error when
 * the text is longer than `LONGEST_TEXT`.
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

type Sentence = Omit<SpeakRequest, "folder">;

/** The threads that speak, and the sentences they spoke lately. */
class Speaker {
  readonly #pool: WorkerPool<SpeakRequest, Int16Array>;
  readonly #spoken: SharedWork<Sentence, Int16Array>;
  /** Outlives a thread that is ended in the middle of a sentence. */
  #folder: Promise<TemporaryFolder> | undefined;

  constructor(threads: number, cacheBytes: number) {
    const file = new URL("./flite/flite-worker.ts", import.meta.url);
    const pool = new WorkerPool<SpeakRequest, Int16Array>({ file, threads, mostWaiting: 1_000 });
    this.#pool = pool;
    this.#spoken = new SharedWork({
      key: ({ text, voice }) => `${voice} ${text}`,
      run: async (sentence, signal) => {
        const { path: folder } = await this.#openFolder();
        return pool.run({ ...sentence, folder }, signal);
      },
      sizeBytes: (audio) => audio.byteLength,
      mostBytes: cacheBytes,
    });
  }

  speak(sentence: Sentence, signal: AbortSignal): Promise<Int16Array> {
    return this.#spoken.get(sentence, signal);
  }

  warm(): void {
    this.#pool.warm();
  }

  /** A folder that could not be made is made for the next sentence. */
  #openFolder(): Promise<TemporaryFolder> {
    this.#folder ??= makeTemporaryFolder(tmpdir(), "offhook-speech-").catch((error: unknown) => {
      this.#folder = undefined;
      throw error;
    });
    return this.#folder;
  }

  async close(): Promise<void> {
    await this.#pool.close();
    const folder = await this.#folder?.catch(() => undefined);
    await folder?.remove();
  }
}

/** `undefined` when there is nothing to say. */
function readSentence(text: string, voice: FliteVoice): Sentence | undefined {
  if (text.length > LONGEST_TEXT) {
    throw new Error(`a text of ${text.length} characters is too long to speak: ${LONGEST_TEXT} is the most`);
  }
  const plain = toPlainAscii(text);
  return /[a-z0-9]/i.test(plain) ? { text: plain, voice } : undefined;
}

/** Flite reads ASCII: accents are dropped, typographic marks become their plain forms, the rest a space. */
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
