/** Notices a peer that vanished without closing its socket. */
import type { WebSocket } from "ws";

export interface Heartbeat {
  /** Something came from the peer: it is there. */
  seen(): void;
  stop(): void;
}

/**
 * Pings the peer at each interval. Whatever comes from it is a sign of life, so a peer too slow to read the ping is not
 * taken for dead while it still sends. A process that was held up has not listened itself: it asks once more.
 * @param onVanished called once when nothing came for a whole interval after a ping
 */
export function startHeartbeat(socket: WebSocket, intervalMs: number, onVanished: () => void): Heartbeat {
  let alive = true;
  let dueAt = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const wasHeldUp = performance.now() > dueAt + intervalMs / 2;
    dueAt = performance.now() + intervalMs;
    if (!alive && !wasHeldUp) {
      clearInterval(timer);
      onVanished();
      return;
    }
    alive = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, intervalMs);
  timer.unref();
  const seen = () => {
    alive = true;
  };
  socket.on("pong", seen);
  socket.on("ping", seen);
  return { seen, stop: () => clearInterval(timer) };
}
