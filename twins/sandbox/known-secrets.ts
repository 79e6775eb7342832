/**
 * Values that are secret wherever they stand: the credentials a twin declares, and those its clients have sent in a header
 * made for credentials. A key pasted into a query, a path or a text is found by its value, which no list of names can do.
 */

/** Shorter values are likely to be words, and masking words would make the journal useless. */
const SHORTEST_LEARNED = 12;
const LONGEST_LEARNED = 4096;
const MOST_LEARNED = 32;

interface Needle {
  bytes: Buffer;
  /** The value as it stands in a path or a form. */
  encoded: string;
}

export class KnownSecrets {
  readonly #mask: string;
  readonly #declared = new Map<string, Needle>();
  /** Oldest first. */
  readonly #learned = new Map<string, Needle>();

  /** @param mask what stands in place of a secret. */
  constructor(mask: string) {
    this.#mask = mask;
  }

  /** Adds values that are never forgotten. */
  declare(values: readonly string[]): void {
    for (const value of values) if (value !== "") this.#declared.set(value, needle(value));
  }

  /** Remembers the credential of a header such as `Bearer <credential>`; the oldest make room. */
  learn(header: string): void {
    const value = header.slice(header.lastIndexOf(" ") + 1);
    if (value.length < SHORTEST_LEARNED || value.length > LONGEST_LEARNED) return;
    if (this.#declared.has(value) || this.#learned.has(value)) return;
    if (this.#learned.size >= MOST_LEARNED) {
      const [oldest] = this.#learned.keys();
      if (oldest !== undefined) this.#learned.delete(oldest);
    }
    this.#learned.set(value, needle(value));
  }

  /** The text with every known value masked; the same text when it holds none. */
  inText(text: string): string {
    let shown = text;
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
    for (const values of [this.#declared, this.#learned]) {
      for (const { bytes: value, encoded } of values.values()) {
        // Latin-1 keeps every byte as it is, so that bytes which are no text survive.
        if (bytes.includes(value) || bytes.includes(encoded)) {
          const shown = this.inText(bytes.toString("latin1"));
          return Buffer.from(shown, "latin1");
        }
      }
    }
    return bytes;
  }
}

function needle(value: string): Needle {
  return { bytes: Buffer.from(value), encoded: encodeURIComponent(value) };
}
