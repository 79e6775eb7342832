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

/** Nothing goes in or out while the connection stays; what is sent meanwhile waits. The returned function ends it. */
function freeze(socket: WebSocket, connection: Duplex): () => void {
  if (socket.readyState !== socket.OPEN) return () => {};
  socket.pause();
  connection.cork();
  return () => {
    connection.uncork();
    socket.resume();
  };
}
