/** A TCP reset. */
import type { Socket } from "node:net";

/** Ends the connection as a peer does that crashed: with a reset in place of a regular end. */
export function resetConnection(socket: Socket): void {
  try {
    carrierOf(socket).resetAndDestroy();
  } catch {
    // Not every connection can be reset, one that is tunnelled for example; ending it at once is nearest to it.
    socket.destroy();
  }
}

/** The connection itself, below its encryption: only that one can be reset. */
function carrierOf(socket: Socket): Socket {
  const parent: unknown = "_parent" in socket ? socket._parent : undefined;
  return isSocket(parent) ? carrierOf(parent) : socket;
}

function isSocket(value: unknown): value is Socket {
  return typeof value === "object" && value !== null && "resetAndDestroy" in value;
}
