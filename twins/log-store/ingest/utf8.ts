/** UTF-8: byte order marks, incomplete characters at the end of a piece, and invalid bytes. */
import { isUtf8 } from "node:buffer";

/** Byte order marks of other encodings. */
const marks: readonly { bytes: readonly number[]; name: string }[] = [
  { bytes: [0xff, 0xfe], name: "UTF-16" },
  { bytes: [0xfe, 0xff], name: "UTF-16" },
];

/** The encoding that a byte order mark names, if it is not UTF-8. */
export function otherEncoding(beginning: Uint8Array): string | undefined {
  return marks.find(({ bytes }) => bytes.every((byte, index) => beginning[index] === byte))?.name;
}

/** Length of a UTF-8 byte order mark: 3, or 0 without one. */
export function byteOrderMark(beginning: Uint8Array): number {
  return beginning[0] === 0xef && beginning[1] === 0xbb && beginning[2] === 0xbf ? 3 : 0;
}

/** Length of an incomplete character at the end: 0 to 3. */
export function incompleteEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return lengthFrom(byte) > back ? back : 0;
  }
  return 0;
}

/** The bytes, or a copy with `?` for every invalid byte. @param found called with the offset of each */
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

/** Length of the character that starts here; 0: none does. */
function characterAt(bytes: Uint8Array, at: number): number {
  const length = lengthFrom(bytes[at] ?? 0);
  if (length <= 1) return length;
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

/** Length of a character with this first byte; 0: no character starts with it. */
function lengthFrom(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc2 || byte > 0xf4) return 0;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
