/** DNS over TCP: each message is preceded by its length in two bytes. */

const LENGTH_BYTES = 2;

/** Prefixes a message with its length. */
export function prefixLength(message: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Reassembles messages from chunks and calls `take` with each. Buffers at most one message and one chunk. */
export function messageReader(take: (message: Buffer) => void): (chunk: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + held.readUInt16BE(0);
      if (held.length < end) return;
      const message = held.subarray(LENGTH_BYTES, end);
      held = held.subarray(end);
      take(message);
    }
  };
}
