/** Real-time audio over open calls, both ways, and how long each frame was under way. */
import { setTimeout as wait } from "node:timers/promises";
import type { RawData, WebSocket } from "ws";
import type { CallEnds } from "./callers.ts";
import type { StreamFigures } from "./questions.ts";
import { percentile } from "./statistics.ts";

const frameMs = 20;
const frameBytes = 960;
/** The first frames of a window are not counted: programs and sockets wake up. */
const settleMs = 250;
const stragglersMs = 200;

/** Content by which a changed frame is known; the first eight bytes are the time it left. */
const pattern = Buffer.from(Array.from({ length: frameBytes }, (_, i) => (i * 31) % 251));

export async function streamBothWays(calls: CallEnds[], durationMs: number): Promise<StreamFigures> {
  const delays: number[] = [];
  let changed = 0;
  const startedAt = performance.now();
  const countFrom = startedAt + settleMs;
  const countTo = countFrom + durationMs;

  const receive = (data: RawData, isBinary: boolean) => {
    const arrivedAt = performance.now();
    if (!isBinary || !Buffer.isBuffer(data)) return;
    const sentAt = data.length === frameBytes ? data.readDoubleLE(0) : Number.NaN;
    if (!(sentAt >= startedAt && sentAt <= arrivedAt) || data.compare(pattern, 8, frameBytes, 8) !== 0)
      changed++;
    else if (sentAt >= countFrom && sentAt < countTo) delays.push(arrivedAt - sentAt);
  };
  const sockets = calls.flatMap(({ caller, runtime }) => [caller, runtime]);
  for (const socket of sockets) socket.on("message", receive);
  const { sent, counted, senderLateMs } = await sendInRealTime(sockets, startedAt, countFrom, countTo);
  await wait(stragglersMs);
  for (const socket of sockets) socket.off("message", receive);

  return {
    sent,
    frames: delays.length,
    lost: counted - delays.length,
    changed,
    p50Ms: percentile(delays, 0.5),
    p99Ms: percentile(delays, 0.99),
    maxMs: delays.reduce((most, delay) => Math.max(most, delay), 0),
    senderLateMs,
  };
}

/** Each socket sends every 20 ms; their turns are spread evenly over the 20 ms, as those of real callers are. */
async function sendInRealTime(
  sockets: WebSocket[],
  startedAt: number,
  countFrom: number,
  countTo: number,
): Promise<{ sent: number; counted: number; senderLateMs: number }> {
  const apartMs = frameMs / sockets.length;
  let sent = 0;
  let counted = 0;
  let senderLateMs = 0;
  for (let turn = 0; ; ) {
    const now = performance.now();
    if (now >= countTo) return { sent, counted, senderLateMs };
    for (let dueAt = startedAt + turn * apartMs; dueAt <= now; dueAt = startedAt + turn * apartMs) {
      const socket = sockets[turn % sockets.length];
      turn++;
      if (socket?.readyState !== socket?.OPEN) continue;
      const leavesAt = performance.now();
      const frame = Buffer.from(pattern);
      frame.writeDoubleLE(leavesAt, 0);
      socket?.send(frame);
      sent++;
      if (leavesAt < countFrom || leavesAt >= countTo) continue;
      counted++;
      senderLateMs = Math.max(senderLateMs, leavesAt - dueAt);
    }
    await wait(1);
  }
}
