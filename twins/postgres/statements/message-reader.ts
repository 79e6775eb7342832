/** Cuts a Postgres byte stream into its messages: one byte of type, four of length (which count themselves), a body. */

const HEADER_BYTES = 5;
const nothing = Buffer.alloc(0);

export interface MessageReaderOptions {
  /** Bytes of the body that `message` needs, by the type of a message. */
  wantedBytes(type: number): number;
  /** @param body the wanted part, valid during the call alone @param bodyBytes length of the whole body */
  message(type: number, body: Buffer, bodyBytes: number): void;
}

/** Buffers at most the wanted part of one message. */
export class MessageReader {
  readonly #options: MessageReaderOptions;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #bodyBytes = 0;
  #toCome = 0;
  #wanted = 0;
  #parts: Buffer[] = [];

  constructor(options: MessageReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerBytes < HEADER_BYTES) {
        at += this.#readHeader(chunk, at);
        if (this.#headerBytes < HEADER_BYTES) return;
      }
      at += this.#readBody(chunk, at);
      if (this.#toCome === 0) this.#finish();
    }
  }

  #readHeader(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#header, this.#headerBytes, at, at + HEADER_BYTES - this.#headerBytes);
    this.#headerBytes += taken;
    if (this.#headerBytes === HEADER_BYTES) {
      this.#bodyBytes = Math.max(this.#header.readUInt32BE(1) - 4, 0);
      this.#toCome = this.#bodyBytes;
      this.#wanted = Math.min(this.#options.wantedBytes(this.#header.readUInt8(0)), this.#bodyBytes);
    }
    return taken;
  }

  #readBody(chunk: Buffer, at: number): number {
    const taken = Math.min(this.#toCome, chunk.length - at);
    const kept = Math.min(this.#wanted, taken);
    if (kept > 0) {
      const part = chunk.subarray(at, at + kept);
      // A part that waits for the next chunk is copied, since the chunk's memory is reused.
      this.#parts.push(taken < this.#toCome ? Buffer.from(part) : part);
      this.#wanted -= kept;
    }
    this.#toCome -= taken;
    return taken;
  }

  #finish(): void {
    const [first = nothing] = this.#parts;
    const body = this.#parts.length > 1 ? Buffer.concat(this.#parts) : first;
    this.#parts = [];
    this.#headerBytes = 0;
    this.#options.message(this.#header.readUInt8(0), body, this.#bodyBytes);
  }
}

/** Reads the fields of a message's body, which may be truncated. */
export class FieldReader {
  readonly #body: Buffer;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Whether so many bytes are left. */
  has(bytes: number): boolean {
    return this.#at + bytes <= this.#body.length;
  }

  /** Text up to the next zero byte, or up to the end when there is none. */
  text(): string {
    const zero = this.#body.indexOf(0, this.#at);
    const end = zero === -1 ? this.#body.length : zero;
    const text = this.#body.toString("utf8", this.#at, end);
    this.#at = Math.min(end + 1, this.#body.length);
    return text;
  }

  byte(): number {
    return this.bytes(1)[0] ?? 0;
  }

  uint16(): number {
    const bytes = this.bytes(2);
    return bytes.length < 2 ? 0 : bytes.readUInt16BE();
  }

  int32(): number {
    const bytes = this.bytes(4);
    return bytes.length < 4 ? 0 : bytes.readInt32BE();
  }

  /** So many bytes, or those that are left. */
  bytes(count: number): Buffer {
    const bytes = this.#body.subarray(this.#at, this.#at + count);
    this.#at += bytes.length;
    return bytes;
  }
}
