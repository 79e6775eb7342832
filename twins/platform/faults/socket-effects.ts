/** Carries out a fault on a WebSocket that was accepted. */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { ArmedFault } from "./armed-fault.ts";
import type { SocketFault } from "./fault.ts";

/** @param connection what carries the socket. Removing the fault before its time spares the socket, and ends a freeze. */
export function strikeSocket(fault: ArmedFault<SocketFault>, socket: WebSocket, connection: Duplex): void {
  const { spec } = fault;
  if (spec.effect === "refuse_upgrade") return;
  let thaw = () => {};
  const timer = setTimeout(() => {
    if (spec.effect === "freeze") thaw = freeze(socket, connection);
    else if (spec.code === undefined) socket.terminate();
    else socket.close(spec.code, "dropped");
  }, spec.after_ms);
  const forget = fault.onRemoved(() => {
    clearTimeout(timer);
    thaw();
  });
  socket.once("close", () => {
    clearTimeout(timer);
    forget();
  });
}

/** What a frozen socket's client may send before it is told to wait; until then its leaving is noticed. */
const HELD_BYTES = 4 * 1024 * 1024;

/**
 * Stops all traffic while the connection stays open; data sent meanwhile waits. The returned function ends it. The
 * connection is read all the same, for its end stands behind whatever its client has sent.
 */
function freeze(socket: WebSocket, connection: Duplex): () => void {
  if (socket.readyState !== socket.OPEN) return () => {};
  const readers = connection.listeners("data") as ((chunk: Buffer) => void)[];
  const held: Buffer[] = [];
  let heldBytes = 0;
  const hold = (chunk: Buffer) => {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes > HELD_BYTES) connection.pause();
  };
  connection.removeAllListeners("data");
  connection.on("data", hold);
  connection.resume();
  connection.cork();
  return () => {
    connection.uncork();
    if (connection.readableEnded || connection.destroyed) return;
    connection.off("data", hold);
    for (const read of readers) connection.on("data", read);
    if (heldBytes > 0) connection.unshift(Buffer.concat(held));
    connection.resume();
  };
}
