/** DNS over TCP: each message comes after its length in two bytes. */

const LENGTH_BYTES = 2;

/** A message with its length before it. */
export function prefixLength(message: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** Takes bytes as they come and calls `take` with each whole message. Holds one message and one chunk at most. */
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
