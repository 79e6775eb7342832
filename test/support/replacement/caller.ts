/** Callers in real time: each sends numbered frames for a while, expects every one of them back, and hangs up. */
import { WebSocket } from "ws";

const FRAME_MS = 20;
const FRAME_BYTES = 960;
/** How long the last frames may be under way. */
const STRAGGLERS_MS = 5_000;

/** What became of a call. */
export interface CallEnd {
  /** `refused`: the upgrade failed. `cut`: it ended before the caller hung up, or fell silent. */
  outcome: "completed" | "refused" | "cut";
  reason: string;
  framesSent: number;
  framesBack: number;
}

/** Places a call. @param durationMs how long the caller speaks */
export async function placeCall(agentUrl: string, durationMs: number): Promise<CallEnd> {
  const socket = new WebSocket(`${agentUrl.replace("http", "ws")}/voice`, { perMessageDeflate: false });
  const frames = Math.round(durationMs / FRAME_MS);
  let sent = 0;
  let back = 0;
  let reason = "";
  const end = (outcome: CallEnd["outcome"]): CallEnd => ({
    outcome,
    reason,
    framesSent: sent,
    framesBack: back,
  });

  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once("open", () => resolve(true));
    socket.on("error", (error) => {
      reason ||= error.message;
      resolve(false);
    });
  });
  if (!isOpen) return end("refused");

  return new Promise((resolve) => {
    const startedAt = performance.now();
    let timer = setInterval(send, FRAME_MS);
    function send() {
      const due = Math.min(frames, Math.ceil((performance.now() - startedAt) / FRAME_MS));
      for (; sent < due; sent++) socket.send(numberedFrame(sent));
      if (sent < frames) return;
      clearInterval(timer);
      timer = setTimeout(() => {
        reason = "the last frame did not come back";
        socket.terminate();
      }, STRAGGLERS_MS);
    }
    socket.on("message", (data) => {
      if (!Buffer.isBuffer(data)) return;
      for (let at = 0; at + FRAME_BYTES <= data.length; at += FRAME_BYTES) {
        back += 1;
        if (data.readUInt32LE(at) === frames - 1) socket.close(1000);
      }
    });
    socket.on("close", (code, text) => {
      clearTimeout(timer);
      const isWhole = sent === frames && code === 1000 && reason === "";
      if (!isWhole) reason ||= `closed with ${code} ${text} after ${sent} of ${frames} frames`;
      resolve(end(isWhole ? "completed" : "cut"));
    });
  });
}

/** A frame that is no silence and says which one it is. */
function numberedFrame(number: number): Buffer {
  const frame = Buffer.alloc(FRAME_BYTES, 7);
  frame.writeUInt32LE(number);
  return frame;
}
