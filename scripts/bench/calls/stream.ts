/** Real-time audio over open calls, both ways, and how long each frame was under way. */
import { setTimeout as wait } from "node:timers/promises";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import type { RawData, WebSocket } from "ws";
import type { CallEnds } from "./callers.ts";
import type { StreamFigures } from "./questions.ts";

const frameMs = 20;
const frameBytes = 960;
/** The first frames of a window are not counted: programs and sockets wake up. */
const settleMs = 250;
/** How long frames may be under way that have not come when the last one has left. */
const stragglersMs = 1_000;

/** Where a frame has the times at which it left and at which it was due, and where its content begins. */
const leftAtByte = 0;
const dueAtByte = 8;
const contentByte = 16;
/** Content by which a changed frame is known. */
const pattern = Buffer.from(Array.from({ length: frameBytes }, (_, i) => (i * 31) % 251));

export async function streamBothWays(calls: CallEnds[], durationMs: number): Promise<StreamFigures> {
  const delays: number[] = [];
  let changed = 0;
  const startedAt = performance.now();
  const countFrom = startedAt + settleMs;
  const countTo = countFrom + durationMs;
  const isCounted = (dueAt: number) => dueAt >= countFrom && dueAt < countTo;

  const receive = (data: RawData, isBinary: boolean) => {
    const arrivedAt = performance.now();
    if (!isBinary || !Buffer.isBuffer(data)) return;
    const sentAt = data.length === frameBytes ? data.readDoubleLE(leftAtByte) : Number.NaN;
    const isWhole = sentAt >= startedAt && sentAt <= arrivedAt;
    if (!isWhole || data.compare(pattern, contentByte, frameBytes, contentByte) !== 0) changed++;
    else if (isCounted(data.readDoubleLE(dueAtByte))) delays.push(arrivedAt - sentAt);
  };
  const sockets = calls.flatMap(({ caller, runtime }) => [caller, runtime]);
  for (const socket of sockets) socket.on("message", receive);
  const { sent, lateMs } = await sendInRealTime(sockets, startedAt, countTo, isCounted);
  const waitUntil = performance.now() + stragglersMs;
  while (delays.length < lateMs.length && performance.now() < waitUntil) await wait(5);
  for (const socket of sockets) socket.off("message", receive);

  return {
    sent,
    frames: delays.length,
    lost: lateMs.length - delays.length,
    changed,
    p50Ms: percentile(delays, 0.5),
    p99Ms: percentile(delays, 0.99),
    maxMs: longest(delays),
    senderLateMs: longest(lateMs),
    senderLateP99Ms: percentile(lateMs, 0.99),
  };
}

/**
 * Each socket sends every 20 ms; their turns are spread evenly over the 20 ms, as those of real callers are. A frame that leaves late
 * counts as well.
 * @returns the frames sent, and how late each counted one was
 */
async function sendInRealTime(
  sockets: WebSocket[],
  startedAt: number,
  until: number,
  isCounted: (dueAt: number) => boolean,
): Promise<{ sent: number; lateMs: number[] }> {
  const apartMs = frameMs / sockets.length;
  const dueAt = (turn: number) => startedAt + turn * apartMs;
  let sent = 0;
  const lateMs: number[] = [];
  let turn = 0;
  while (dueAt(turn) < until) {
    for (; dueAt(turn) <= performance.now() && dueAt(turn) < until; turn++) {
      const socket = sockets[turn % sockets.length];
      if (socket?.readyState !== socket?.OPEN) continue;
      const leavesAt = performance.now();
      const frame = Buffer.from(pattern);
      frame.writeDoubleLE(leavesAt, leftAtByte);
      frame.writeDoubleLE(dueAt(turn), dueAtByte);
      socket?.send(frame);
      sent++;
      if (isCounted(dueAt(turn))) lateMs.push(leavesAt - dueAt(turn));
    }
    await wait(1);
  }
  return { sent, lateMs };
}

function longest(timesMs: readonly number[]): number {
  return timesMs.reduce((most, timeMs) => Math.max(most, timeMs), 0);
}
