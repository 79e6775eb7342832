/** The recordings of a sandbox's calls: files of a temporary folder, bounded in number and in bytes, oldest first. */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { makeTemporaryFolder, type TemporaryFolder } from "@offhook/platform/base/temporary-folder";
import type { Logger } from "pino";
import { Recording } from "./recording.ts";

export interface RecordingLimits {
  /** Recordings to keep; 0: none is made. */
  calls: number;
  bytes: number;
}

/** A recording in its store. */
export interface StoredRecording {
  callId: string;
  /** What makes the vendor's addresses of it unguessable. */
  secret: string;
  recording: Recording;
}

const SECRET_BYTES = 16;

export class RecordingStore {
  readonly #limits: RecordingLimits;
  readonly #log: Logger;
  /** Oldest first. */
  readonly #entries = new Map<string, StoredRecording>();
  readonly #bySecret = new Map<string, StoredRecording>();
  readonly #removals = new Set<Promise<void>>();
  #bytes = 0;
  /** Made with the first recording. */
  #folder: Promise<TemporaryFolder> | undefined;

  constructor(limits: RecordingLimits, log: Logger) {
    this.#limits = limits;
    this.#log = log;
  }

  /** Begins the recording of a call. @returns `undefined`, and logs why, when running calls leave no room for it */
  start(callId: string, sampleRate: number): Recording | undefined {
    const { calls } = this.#limits;
    if (calls === 0) return undefined;
    while (this.#entries.size >= calls) {
      if (this.#removeOldest()) continue;
      this.#log.warn({ call: callId, recordings: { calls } }, "the call is not recorded: so many others are");
      return undefined;
    }
    const recording = new Recording({
      sampleRate,
      file: () => this.#fileOf(callId),
      reserve: (bytes) => this.#reserve(bytes),
      release: (bytes) => {
        this.#bytes -= bytes;
      },
      onStop: (reason) => this.#log.warn({ call: callId, reason }, "the call is not recorded any further"),
    });
    const secret = randomBytes(SECRET_BYTES).toString("hex");
    const entry = { callId, secret, recording };
    this.#entries.set(callId, entry);
    this.#bySecret.set(secret, entry);
    return recording;
  }

  find(callId: string): StoredRecording | undefined {
    return this.#entries.get(callId);
  }

  findBySecret(secret: string): StoredRecording | undefined {
    return this.#bySecret.get(secret);
  }

  remove(callId: string): void {
    const entry = this.#entries.get(callId);
    if (entry === undefined) return;
    this.#entries.delete(callId);
    this.#bySecret.delete(entry.secret);
    this.#bytes -= entry.recording.reservedBytes;
    entry.recording.discard();
    const removal = this.#removeFile(entry).finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  /** Removes all recordings. */
  async clear(): Promise<void> {
    for (const callId of [...this.#entries.keys()]) this.remove(callId);
    await Promise.all(this.#removals);
  }

  /** Removes all recordings and the folder. */
  async close(): Promise<void> {
    await this.clear();
    const folder = await this.#folder?.catch(() => undefined);
    await folder?.remove();
  }

  async #fileOf(callId: string): Promise<string> {
    this.#folder ??= makeTemporaryFolder(tmpdir(), "offhook-recordings-");
    return path.join((await this.#folder).path, `${callId}.pcm`);
  }

  #reserve(bytes: number): boolean {
    while (this.#bytes + bytes > this.#limits.bytes) if (!this.#removeOldest()) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Removes the oldest recording that is not running. @returns false when there is none */
  #removeOldest(): boolean {
    for (const { callId, recording } of this.#entries.values()) {
      if (recording.state === "running") continue;
      this.remove(callId);
      return true;
    }
    return false;
  }

  async #removeFile({ callId, recording }: StoredRecording): Promise<void> {
    try {
      await recording.settled();
      if (this.#folder !== undefined) await rm(await this.#fileOf(callId), { force: true });
    } catch (error) {
      this.#log.warn({ err: error }, "a recording's file could not be removed");
    }
  }
}
