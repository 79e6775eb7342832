/**
 * Values that are secret wherever they appear: the credentials a twin declares, and those that clients have sent in an
 * authentication header. Searching by value also finds a key pasted into a query, a path or a text, where no list of
 * names would.
 */

import { createHash } from "node:crypto";

/** Shorter values may be ordinary words, and masking those would make the journal useless. */
const MIN_LEARNED_LENGTH = 12;
const MAX_LEARNED_LENGTH = 4096;
/** Bounded, since every request is searched for each of them. */
const MAX_LEARNED = 8;

/** Begins the console's codes and sessions. */
export const CONSOLE_SECRET_PREFIX = "console_";
/** The shape of generated keys of the control plane, and of the console's secrets: recognized even before they are used. */
const MADE_SECRET = /(?:sandbox|console)_[A-Za-z0-9_-]{32}/g;
const MADE_SECRET_TRACES = ["sandbox_", CONSOLE_SECRET_PREFIX];
const MADE_SECRET_BYTES = CONSOLE_SECRET_PREFIX.length + 32;

/** A secret in every encoding that is searched for. */
interface Needle {
  forms: { text: string; bytes: Buffer; latin1: string }[];
}

/** Tokens of one body that are hashed to find keys. */
const MAX_TOKENS = 2000;
/** Tokens that may be a key, without and with the special characters of base64. */
const TOKENS = [/[A-Za-z0-9_~.-]{8,200}/g, /[A-Za-z0-9_~.+/=-]{8,200}/g];

/**
 * The keys of the control plane, which no journal and no log line shows. A key configured only by its hash becomes known
 * with the first request that contains it, wherever it appears there.
 */
export class PlatformKeys {
  readonly #mask: string;
  readonly needles = new Map<string, Needle>();
  /** SHA-256, in hexadecimal, of keys that are not known in plain text yet. */
  readonly #unseen: Set<string>;

  constructor(mask: string) {
    this.#mask = mask;
    this.#unseen = new Set();
  }

  /** Adds a key of which only the SHA-256 is known, in hexadecimal. */
  expect(sha256: string): void {
    this.#unseen.add(sha256);
  }

  declare(key: string): void {
    this.needles.set(key, needle(key, [...writtenForms(key), ...base64Forms(key)]));
    this.#unseen.delete(sha256Of(key));
  }

  /** Whether some keys are known only by hash: searching for them costs a hash per value. */
  get hasUnseen(): boolean {
    return this.#unseen.size > 0;
  }

  /** Checks whether whole values are keys known only by hash. */
  recognize(values: Iterable<string>): void {
    for (const value of values) if (this.#unseen.has(sha256Of(value))) this.declare(value);
  }

  /** The same for the tokens of a text. */
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

  /** Masks all known keys in a text, and the console's secrets. */
  maskIn(text: string): string {
    return replaceAll(maskMade(text, this.#mask), this.needles.values(), "text", this.#mask);
  }
}

export class KnownSecrets {
  readonly #mask: string;
  readonly #declared = new Map<string, Needle>();
  /** Least recently used first. */
  readonly #learned = new Map<string, Needle>();
  readonly #maps: readonly ReadonlyMap<string, Needle>[];

  /**
   * @param mask replaces a secret
   * @param keys of the control plane, which every mask hides
   */
  constructor(mask: string, keys: PlatformKeys) {
    this.#mask = mask;
    this.#maps = [keys.needles, this.#declared, this.#learned];
  }

  /** Adds values that are never evicted. */
  declare(values: readonly string[]): void {
    for (const value of values) {
      if (value !== "") this.#declared.set(value, needle(value, writtenForms(value)));
    }
  }

  /** Remembers the credential of a header such as `Bearer <credential>`, evicting the least recently used. */
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

  /** Length of the longest secret in any encoding, in bytes. */
  get maxBytes(): number {
    let longest = MADE_SECRET_BYTES;
    for (const { bytes } of this.#forms()) longest = Math.max(longest, bytes.length);
    return longest;
  }

  /** The text with every known value masked; the same text when it holds none. */
  inText(text: string): string {
    return this.#replaceIn(text, "text");
  }

  /** The bytes with every known value masked; the same buffer when they hold none. */
  inBytes(bytes: Buffer): Buffer {
    // Latin-1 round-trips every byte, so that binary data survives.
    return this.#isIn(bytes)
      ? Buffer.from(this.#replaceIn(bytes.toString("latin1"), "latin1"), "latin1")
      : bytes;
  }

  #replaceIn(text: string, as: "text" | "latin1"): string {
    let shown = maskMade(text, this.#mask);
    for (const values of this.#maps) shown = replaceAll(shown, values.values(), as, this.#mask);
    return shown;
  }

  #isIn(bytes: Buffer): boolean {
    if (MADE_SECRET_TRACES.some((trace) => bytes.includes(trace))) return true;
    for (const form of this.#forms()) if (bytes.includes(form.bytes)) return true;
    return false;
  }

  *#forms(): Iterable<Needle["forms"][number]> {
    for (const values of this.#maps) for (const { forms } of values.values()) yield* forms;
  }
}

function maskMade(text: string, mask: string): string {
  return MADE_SECRET_TRACES.some((trace) => text.includes(trace)) ? text.replaceAll(MADE_SECRET, mask) : text;
}

function replaceAll(text: string, needles: Iterable<Needle>, as: "text" | "latin1", mask: string): string {
  let shown = text;
  for (const { forms } of needles) {
    for (const form of forms) if (shown.includes(form[as])) shown = shown.replaceAll(form[as], mask);
  }
  return shown;
}

function needle(value: string, forms: readonly string[]): Needle {
  // The set drops equal encodings.
  return {
    forms: [...new Set([value, ...forms])].map((text) => {
      const bytes = Buffer.from(text);
      return { text, bytes, latin1: bytes.toString("latin1") };
    }),
  };
}

/** A value encoded for a path, a form, JSON, and JSON quoted within JSON, as in answers that echo a request. */
function writtenForms(value: string): string[] {
  const form = new URLSearchParams([["", value]]).toString().slice(1);
  const json = jsonForm(value);
  return [encodeURIComponent(value), form, json, jsonForm(json)];
}

function jsonForm(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The part of a value's base64 that does not depend on the bytes around it, for each of the three alignments. */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    // Drops the characters that share bits with the bytes before or after the value.
    const from = Math.ceil((before * 8) / 6);
    const form = all.toString("base64").slice(from, Math.floor((all.length * 8) / 6));
    return form.length < MIN_LEARNED_LENGTH ? [] : [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
