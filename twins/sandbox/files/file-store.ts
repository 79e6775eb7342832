/** Files somebody gave a twin: bytes with a name and a type, held in memory within limits for each and for all together. */
import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";

export const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** All files of one twin together; in base64 they still fit into the body of a reset. */
export const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
export const MAX_FILES = 1000;

export interface StoredFile {
  name: string;
  /** Media type, as its sender named it. */
  type: string;
  size: number;
  /** In hexadecimal. */
  sha256: string;
  /** Of the sandbox's clock. */
  createdAt: string;
  bytes: Buffer;
}

export type Storing =
  | { kind: "stored"; file: StoredFile }
  | { kind: "exists" }
  /** It would not fit. */
  | { kind: "full"; rule: string };

export class FileStore {
  readonly #clock: Clock;
  #files = new Map<string, StoredFile>();
  #bytes = 0;
  #version = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Grows with every change. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#files.size;
  }

  get(name: string): StoredFile | undefined {
    return this.#files.get(name);
  }

  /** In the order in which they came. */
  all(): StoredFile[] {
    return [...this.#files.values()];
  }

  add(name: string, type: string, bytes: Buffer): Storing {
    if (this.#files.has(name)) return { kind: "exists" };
    const rule = roomProblem(this.#files.size + 1, this.#bytes + bytes.length);
    if (rule !== undefined) return { kind: "full", rule };
    const createdAt = new Date(this.#clock.now()).toISOString();
    const file = { name, type, size: bytes.length, sha256: sha256Of(bytes), createdAt, bytes };
    this.#files.set(name, file);
    this.#bytes += file.size;
    this.#version++;
    return { kind: "stored", file };
  }

  /** Answers the file that was there. */
  remove(name: string): StoredFile | undefined {
    const file = this.#files.get(name);
    if (!file) return undefined;
    this.#files.delete(name);
    this.#bytes -= file.size;
    this.#version++;
    return file;
  }

  /** Puts these in the place of all there are; the caller has seen that they fit. */
  replaceAll(files: readonly StoredFile[]): void {
    if (files.length === 0 && this.#files.size === 0) return;
    this.#files = new Map(files.map((file) => [file.name, file]));
    this.#bytes = files.reduce((bytes, { size }) => bytes + size, 0);
    this.#version++;
  }
}

/** Why so much does not fit; `undefined` when it does. */
export function roomProblem(files: number, bytes: number): string | undefined {
  if (files > MAX_FILES) return `a twin holds at most ${MAX_FILES} files`;
  if (bytes > MAX_TOTAL_BYTES)
    return `the files of a twin may have at most ${MAX_TOTAL_BYTES} bytes together`;
  return undefined;
}

export function sha256Of(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
