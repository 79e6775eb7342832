/**
 * Values that are secret wherever they stand: the credentials a twin declares, and those its clients have sent in a header
 * made for credentials. A key pasted into a query, a path or a text is found by its value, which no list of names can do.
 */

/** Shorter values are likely to be words, and masking words would make the journal useless. */
const SHORTEST_LEARNED = 12;
const LONGEST_LEARNED = 4096;
/** Every one of them is looked for in every request. */
const MOST_LEARNED = 8;

/** A control plane's key as this program makes it: known by its shape before it is ever used. */
const MADE_KEY = /sandbox_[A-Za-z0-9_-]{32}/g;
const MADE_KEY_TRACE = "sandbox_";
const MADE_KEY_BYTES = MADE_KEY_TRACE.length + 32;

interface Needle {
  bytes: Buffer;
  /** The value as it stands in a path or a form. */
  encoded: string;
  /** The bytes of that, where it is not the value itself: what is the same is looked for once. */
  encodedBytes: Buffer | undefined;
}

export class KnownSecrets {
  readonly #mask: string;
  readonly #declared = new Map<string, Needle>();
  /** Longest unused first. */
  readonly #learned = new Map<string, Needle>();

  /** @param mask what stands in place of a secret. */
  constructor(mask: string) {
    this.#mask = mask;
  }

  /** Adds values that are never forgotten. */
  declare(values: readonly string[]): void {
    for (const value of values) if (value !== "") this.#declared.set(value, needle(value));
  }

  /** Remembers the credential of a header such as `Bearer <credential>`; those longest unused make room. */
  learn(header: string): void {
    const value = header.slice(header.lastIndexOf(" ") + 1);
    if (value.length < SHORTEST_LEARNED || value.length > LONGEST_LEARNED) return;
    if (this.#declared.has(value)) return;
    const known = this.#learned.get(value);
    if (known && this.#learned.size === 1) return;
    this.#learned.delete(value);
    this.#learned.set(value, known ?? needle(value));
    const [oldest] = this.#learned.keys();
    if (this.#learned.size > MOST_LEARNED && oldest !== undefined) this.#learned.delete(oldest);
  }

  /** Length of the longest secret in any form, in bytes. */
  get longestBytes(): number {
    let longest = MADE_KEY_BYTES;
    for (const values of [this.#declared, this.#learned]) {
      for (const { bytes, encodedBytes } of values.values()) {
        longest = Math.max(longest, bytes.length, encodedBytes?.length ?? 0);
      }
    }
    return longest;
  }

  /** The text with every known value masked; the same text when it holds none. */
  inText(text: string): string {
    let shown = text.includes(MADE_KEY_TRACE) ? text.replaceAll(MADE_KEY, this.#mask) : text;
    for (const values of [this.#declared, this.#learned]) {
      for (const [value, { encoded }] of values) {
        if (shown.includes(value)) shown = shown.replaceAll(value, this.#mask);
        if (encoded !== value && shown.includes(encoded)) shown = shown.replaceAll(encoded, this.#mask);
      }
    }
    return shown;
  }

  /** The bytes with every known value masked; the same buffer when they hold none. */
  inBytes(bytes: Buffer): Buffer {
    // Latin-1 keeps every byte as it is, so that bytes which are no text survive.
    return this.#isIn(bytes) ? Buffer.from(this.inText(bytes.toString("latin1")), "latin1") : bytes;
  }

  #isIn(bytes: Buffer): boolean {
    if (bytes.includes(MADE_KEY_TRACE)) return true;
    for (const values of [this.#declared, this.#learned]) {
      for (const { bytes: value, encodedBytes } of values.values()) {
        if (bytes.includes(value) || (encodedBytes && bytes.includes(encodedBytes))) return true;
      }
    }
    return false;
  }
}

function needle(value: string): Needle {
  const encoded = encodeURIComponent(value);
  const encodedBytes = encoded === value ? undefined : Buffer.from(encoded);
  return { bytes: Buffer.from(value), encoded, encodedBytes };
}
