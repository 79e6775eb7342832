/**
 * Values that are secret wherever they stand: the credentials a twin declares, and those its clients have sent in a header
 * made for credentials. A key pasted into a query, a path or a text is found by its value, which no list of names can do.
 */

import { createHash } from "node:crypto";

/** Shorter values are likely to be words, and masking words would make the journal useless. */
const MIN_LEARNED_LENGTH = 12;
const MAX_LEARNED_LENGTH = 4096;
/** Every one of them is looked for in every request. */
const MAX_LEARNED = 8;

/** A control plane's key as this program makes it: known by its shape before it is ever used. */
const MADE_KEY = /sandbox_[A-Za-z0-9_-]{32}/g;
const MADE_KEY_TRACE = "sandbox_";
const MADE_KEY_BYTES = MADE_KEY_TRACE.length + 32;

/** A secret in every form in which it is looked for. */
interface Needle {
  forms: { text: string; bytes: Buffer; latin1: string }[];
}

/** Tokens of one body that are hashed to tell whether they are keys. */
const MAX_TOKENS = 2000;
/** A key as it may stand in a text: with the signs of base64, or where these are not part of it. */
const TOKENS = [/[A-Za-z0-9_~.-]{8,200}/g, /[A-Za-z0-9_~.+/=-]{8,200}/g];

/**
 * The keys of the control plane, which no journal and no log line shows. One that is configured by its hash alone is
 * known from the first request that holds it, wherever it stands in it.
 */
export class PlatformKeys {
  readonly #mask: string;
  readonly needles = new Map<string, Needle>();
  /** SHA-256, in hexadecimal, of the keys that have not been seen yet. */
  readonly #unseen: Set<string>;

  constructor(mask: string) {
    this.#mask = mask;
    this.#unseen = new Set();
  }

  /** Adds a key that is known by its SHA-256, in hexadecimal. */
  expect(sha256: string): void {
    this.#unseen.add(sha256);
  }

  declare(key: string): void {
    this.needles.set(key, needle(key, [...writtenForms(key), ...base64Forms(key)]));
    this.#unseen.delete(sha256Of(key));
  }

  /** Whether there are keys that have not been seen: looking for them costs a hash for each value. */
  get hasUnseen(): boolean {
    return this.#unseen.size > 0;
  }

  /** Looks for keys that have not been seen among whole values. */
  recognize(values: Iterable<string>): void {
    for (const value of values) if (this.#unseen.has(sha256Of(value))) this.declare(value);
  }

  /** The same, among the words of a text. */
  recognizeWithin(text: string): void {
    for (const pattern of TOKENS) {
      const tokens = new Set<string>();
      for (const [token] of text.matchAll(pattern)) {
        tokens.add(token);
        if (tokens.size === MAX_TOKENS) break;
      }
      this.recognize(tokens);
    }
  }

  /** The text without any of them. */
  maskIn(text: string): string {
    return replaceAll(text, this.needles.values(), "text", this.#mask);
  }
}

export class KnownSecrets {
  readonly #mask: string;
  readonly #declared = new Map<string, Needle>();
  /** Longest unused first. */
  readonly #learned = new Map<string, Needle>();
  readonly #maps: readonly ReadonlyMap<string, Needle>[];

  /**
   * @param mask what stands in place of a secret.
   * @param keys those of the control plane, which belong to every mask
   */
  constructor(mask: string, keys: PlatformKeys) {
    this.#mask = mask;
    this.#maps = [keys.needles, this.#declared, this.#learned];
  }

  /** Adds values that are never forgotten. */
  declare(values: readonly string[]): void {
    for (const value of values) {
      if (value !== "") this.#declared.set(value, needle(value, writtenForms(value)));
    }
  }

  /** Remembers the credential of a header such as `Bearer <credential>`; those longest unused make room. */
  learn(header: string): void {
    const value = header.slice(header.lastIndexOf(" ") + 1);
    if (value.length < MIN_LEARNED_LENGTH || value.length > MAX_LEARNED_LENGTH) return;
    if (this.#declared.has(value)) return;
    const known = this.#learned.get(value);
    if (known && this.#learned.size === 1) return;
    this.#learned.delete(value);
    this.#learned.set(value, known ?? needle(value, writtenForms(value)));
    const [oldest] = this.#learned.keys();
    if (this.#learned.size > MAX_LEARNED && oldest !== undefined) this.#learned.delete(oldest);
  }

  /** Length of the longest secret in any form, in bytes. */
  get maxBytes(): number {
    let longest = MADE_KEY_BYTES;
    for (const { bytes } of this.#forms()) longest = Math.max(longest, bytes.length);
    return longest;
  }

  /** The text with every known value masked; the same text when it holds none. */
  inText(text: string): string {
    return this.#replaceIn(text, "text");
  }

  /** The bytes with every known value masked; the same buffer when they hold none. */
  inBytes(bytes: Buffer): Buffer {
    // Latin-1 keeps every byte as it is, so that bytes which are no text survive.
    return this.#isIn(bytes)
      ? Buffer.from(this.#replaceIn(bytes.toString("latin1"), "latin1"), "latin1")
      : bytes;
  }

  #replaceIn(text: string, as: "text" | "latin1"): string {
    let shown = text.includes(MADE_KEY_TRACE) ? text.replaceAll(MADE_KEY, this.#mask) : text;
    for (const values of this.#maps) shown = replaceAll(shown, values.values(), as, this.#mask);
    return shown;
  }

  #isIn(bytes: Buffer): boolean {
    if (bytes.includes(MADE_KEY_TRACE)) return true;
    for (const form of this.#forms()) if (bytes.includes(form.bytes)) return true;
    return false;
  }

  *#forms(): Iterable<Needle["forms"][number]> {
    for (const values of this.#maps) for (const { forms } of values.values()) yield* forms;
  }
}

function replaceAll(text: string, needles: Iterable<Needle>, as: "text" | "latin1", mask: string): string {
  let shown = text;
  for (const { forms } of needles) {
    for (const form of forms) if (shown.includes(form[as])) shown = shown.replaceAll(form[as], mask);
  }
  return shown;
}

function needle(value: string, forms: readonly string[]): Needle {
  // What is the same is looked for once.
  return {
    forms: [...new Set([value, ...forms])].map((text) => {
      const bytes = Buffer.from(text);
      return { text, bytes, latin1: bytes.toString("latin1") };
    }),
  };
}

/** A value as it stands in a path, a form, JSON, and JSON that another one quotes, as answers do with what they were sent. */
function writtenForms(value: string): string[] {
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const json = jsonForm(value);
  return [encodeURIComponent(value), form, json, jsonForm(json)];
}

function jsonForm(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** What is always the same of a value in base64, wherever it begins in what is encoded. */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    // Characters that hold bits of what stands before or after it differ.
    const from = Math.ceil((before * 8) / 6);
    const form = all.toString("base64").slice(from, Math.floor((all.length * 8) / 6));
    return form.length < MIN_LEARNED_LENGTH ? [] : [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
