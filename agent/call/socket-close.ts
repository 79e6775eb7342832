/** Closing a WebSocket properly, in bounded time. */
import type { WebSocket } from "ws";

/** A close frame's reason may have 123 bytes. */
const MAX_REASON_BYTES = 123;

/**
 * Closes a socket after what was sent on it; when the peer does not answer in time the connection is cut.
 * @returns the close code once the connection is gone: the peer's, 1005 for one that gave none, 1006 without its close frame
 */
export async function closeSocket(
  socket: WebSocket,
  code: number,
  reason: string,
  timeoutMs: number,
): Promise<number> {
  if (socket.readyState === socket.CLOSED) return 1006;
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  const timer = setTimeout(() => socket.terminate(), timeoutMs);
  if (socket.readyState === socket.OPEN) socket.close(code, truncateReason(reason));
  else if (socket.readyState === socket.CONNECTING) socket.terminate();
  const closeCode = await closed;
  clearTimeout(timer);
  return closeCode;
}

function truncateReason(reason: string): string {
  let text = reason;
  while (Buffer.byteLength(text) > MAX_REASON_BYTES) text = text.slice(0, -1);
  return text;
}
