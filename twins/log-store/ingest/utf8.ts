/** Bytes that have to be UTF-8: pieces that end between characters, with every byte that is not UTF-8 found. */
import { isUtf8 } from "node:buffer";

/** How the bytes of a file begin that is in another encoding. */
const marks: readonly { bytes: readonly number[]; name: string }[] = [
  { bytes: [0xff, 0xfe], name: "UTF-16" },
  { bytes: [0xfe, 0xff], name: "UTF-16" },
];

/** The encoding that a byte order mark names, if it is not UTF-8. */
export function otherEncoding(beginning: Uint8Array): string | undefined {
  return marks.find(({ bytes }) => bytes.every((byte, index) => beginning[index] === byte))?.name;
}

/** Length of the byte order mark of UTF-8 at the beginning: 3, or 0. */
export function byteOrderMark(beginning: Uint8Array): number {
  return beginning[0] === 0xef && beginning[1] === 0xbb && beginning[2] === 0xbf ? 3 : 0;
}

/** How many bytes at the end begin a character that is not complete: 0 to 3. */
export function incompleteEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return lengthFrom(byte) > back ? back : 0;
  }
  return 0;
}

/** The bytes, or a copy with a `?` for every byte that is not UTF-8; `found` is called with the place of each. */
export function replaceInvalid(bytes: Buffer, found: (at: number) => void): Buffer {
  if (isUtf8(bytes)) return bytes;
  const replaced = Buffer.from(bytes);
  for (let at = 0; at < bytes.length; ) {
    const length = characterAt(bytes, at);
    if (length > 0) at += length;
    else {
      found(at);
      replaced[at++] = 0x3f;
    }
  }
  return replaced;
}

/** Length of the character that begins here; 0 when none does. */
function characterAt(bytes: Uint8Array, at: number): number {
  const length = lengthFrom(bytes[at] ?? 0);
  if (length <= 1) return length;
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

/** How long a character is that begins with this byte; 0 when none does. */
function lengthFrom(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc2 || byte > 0xf4) return 0;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
