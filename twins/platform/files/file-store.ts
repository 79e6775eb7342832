/** The files that a tester gave a twin, held in memory, with limits for each file and for their total. */
import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";

export const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Limit of a twin's files in total; in base64 they still fit into the body of a reset. */
export const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
export const MAX_FILES = 1000;

export interface StoredFile {
  name: string;
  /** Media type, as sent. */
  type: string;
  size: number;
  /** Hash of the content, in hexadecimal. */
  sha256: string;
  /** By the sandbox's clock. */
  createdAt: string;
  bytes: Buffer;
}

/** A file to store; without a name it gets a generated one. */
export interface GivenFile {
  name: string | undefined;
  type: string;
  bytes: Buffer;
}

export type Storing =
  | { kind: "stored"; files: StoredFile[] }
  | { kind: "exists"; name: string }
  /** A limit would be exceeded. */
  | { kind: "full"; rule: string };

export class FileStore {
  readonly #clock: Clock;
  #files = new Map<string, StoredFile>();
  #bytes = 0;
  #version = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Incremented by every change. */
  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#files.size;
  }

  get(name: string): StoredFile | undefined {
    return this.#files.get(name);
  }

  /** All files, oldest first. */
  all(): StoredFile[] {
    return [...this.#files.values()];
  }

  /** Stores all files or none. */
  addAll(given: readonly GivenFile[]): Storing {
    const taken = new Set(this.#files.keys());
    const createdAt = new Date(this.#clock.now()).toISOString();
    const files: StoredFile[] = [];
    for (const { name = unusedName(taken), type, bytes } of given) {
      if (taken.has(name)) return { kind: "exists", name };
      taken.add(name);
      files.push({ name, type, size: bytes.length, sha256: sha256Of(bytes), createdAt, bytes });
    }
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const rule = roomProblem(files, taken.size, this.#bytes + bytes);
    if (rule !== undefined) return { kind: "full", rule };
    for (const file of files) this.#files.set(file.name, file);
    this.#bytes += bytes;
    this.#version++;
    return { kind: "stored", files };
  }

  /** Removes a file and returns it. */
  remove(name: string): StoredFile | undefined {
    const file = this.#files.get(name);
    if (!file) return undefined;
    this.#files.delete(name);
    this.#bytes -= file.size;
    this.#version++;
    return file;
  }

  /** Replaces all files; the caller has checked the limits. */
  replaceAll(files: readonly StoredFile[]): void {
    if (files.length === 0 && this.#files.size === 0) return;
    this.#files = new Map(files.map((file) => [file.name, file]));
    this.#bytes = files.reduce((bytes, { size }) => bytes + size, 0);
    this.#version++;
  }
}

/** The first unused name of `file-1`, `file-2`, … */
function unusedName(taken: ReadonlySet<string>): string {
  let number = 1;
  while (taken.has(`file-${number}`)) number++;
  return `file-${number}`;
}

/** Why the files exceed a limit; `undefined` when they do not. @param added files to store besides existing ones */
export function roomProblem(
  added: readonly Pick<StoredFile, "name" | "size">[],
  files: number,
  bytes: number,
): string | undefined {
  const large = added.find(({ size }) => size > MAX_FILE_BYTES);
  if (large) return `a file may have at most ${MAX_FILE_BYTES} bytes; ${large.name} has ${large.size}`;
  if (files > MAX_FILES) return `a twin holds at most ${MAX_FILES} files`;
  if (bytes > MAX_TOTAL_BYTES)
    return `the files of a twin may have at most ${MAX_TOTAL_BYTES} bytes together`;
  return undefined;
}

export function sha256Of(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
