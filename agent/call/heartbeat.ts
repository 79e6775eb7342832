/** Notices a peer that vanished without closing its socket. */
import type { WebSocket } from "ws";

export interface Heartbeat {
  /** Notes that something came from the peer. */
  seen(): void;
  stop(): void;
}

/**
 * Pings the peer at each interval. Any message is a sign of life, so a peer that is too slow to read the ping but still
 * sends counts as alive. After a stall of this process, which may have missed the answer, it pings once more.
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
