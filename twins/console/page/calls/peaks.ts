/** The peaks of a recording, made by the server and fetched as they grow. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, controlPath, read } from "../api/client.ts";
import type { CallSummary, PeaksAnswer } from "./types.ts";

/** Windows of this length; two bytes each and side, so an hour is 720 KB. */
const RESOLUTION_MS = 20;
/** How often a running call is asked for more. */
const POLL_MS = 400;

/** Lowest and highest sample of each window, one after the other, in 8 bits. */
export interface Lanes {
  caller: Int8Array;
  assistant: Int8Array;
}

export interface Peaks {
  durationMs: number;
  lanes: Lanes;
  isComplete: boolean;
}

export interface PeaksState {
  peaks: Peaks | undefined;
  /** Why there are none. */
  error: ApiError | undefined;
}

/** @param status of the call: peaks are asked for anew when it changes */
export function usePeaks(sandbox: string, callId: string, status: CallSummary["status"]): PeaksState {
  const [state, setState] = useState<PeaksState>({ peaks: undefined, error: undefined });
  useEffect(() => {
    if (status === "queued") return;
    const controller = new AbortController();
    void follow(sandbox, callId, controller.signal, setState);
    return () => controller.abort();
  }, [sandbox, callId, status]);
  return state;
}

async function follow(
  sandbox: string,
  callId: string,
  signal: AbortSignal,
  show: (state: PeaksState) => void,
): Promise<void> {
  const growing = { caller: new Growing(), assistant: new Growing() };
  while (!signal.aborted) {
    const route = `recordings/${encodeURIComponent(callId)}/peaks`;
    const from_ms = (growing.caller.length / 2) * RESOLUTION_MS;
    try {
      const answer = await read<PeaksAnswer>(
        controlPath(sandbox, "vapi", route, { from_ms, resolution_ms: RESOLUTION_MS }),
        signal,
      );
      growing.caller.add(answer.lanes.caller);
      growing.assistant.add(answer.lanes.assistant);
      const lanes = { caller: growing.caller.values, assistant: growing.assistant.values };
      show({
        peaks: { durationMs: answer.duration_ms, lanes, isComplete: answer.complete },
        error: undefined,
      });
      if (answer.complete) return;
      // Of a long recording there is more at once.
      if (answer.state === "running") await wait(POLL_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      show({
        peaks: undefined,
        error: error instanceof ApiError ? error : new ApiError(0, "failed", String(error)),
      });
      return;
    }
  }
}

/** Bytes to which others are appended. */
class Growing {
  #bytes = new Int8Array(4_096);
  length = 0;

  get values(): Int8Array {
    return this.#bytes.subarray(0, this.length);
  }

  add(base64: string): void {
    const text = atob(base64);
    if (this.length + text.length > this.#bytes.length) {
      const larger = new Int8Array(2 * (this.length + text.length));
      larger.set(this.values);
      this.#bytes = larger;
    }
    for (let at = 0; at < text.length; at++) this.#bytes[this.length + at] = text.charCodeAt(at);
    this.length += text.length;
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** What of a lane is drawn where. */
export interface View {
  fromMs: number;
  toMs: number;
}

/** Draws a lane into the whole canvas, in the canvas's own CSS colour. @param loudest amplitude that fills the lane */
export function drawLane(
  canvas: HTMLCanvasElement,
  values: Int8Array,
  { fromMs, toMs }: View,
  loudest: number,
): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const ratio = window.devicePixelRatio;
  const width = Math.round(canvas.clientWidth * ratio);
  const height = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  context.clearRect(0, 0, width, height);
  context.fillStyle = getComputedStyle(canvas).color;
  const middle = height / 2;
  const windows = values.length / 2;
  const windowsPerPixel = (toMs - fromMs) / RESOLUTION_MS / width;
  for (let x = 0; x < width; x++) {
    const first = Math.floor(fromMs / RESOLUTION_MS + x * windowsPerPixel);
    if (first >= windows) break;
    const end = Math.min(
      windows,
      Math.max(first + 1, Math.floor(fromMs / RESOLUTION_MS + (x + 1) * windowsPerPixel)),
    );
    let [low, high] = [0, 0];
    for (let at = first; at < end; at++) {
      low = Math.min(low, values[2 * at] ?? 0);
      high = Math.max(high, values[2 * at + 1] ?? 0);
    }
    const top = middle - scale(high / loudest) * middle;
    const bottom = middle + scale(-low / loudest) * middle;
    context.fillRect(x, top, 1, Math.max(ratio, bottom - top));
  }
}

/** Quiet speech is seen, too: the root of an amplitude. */
function scale(part: number): number {
  return Math.sqrt(Math.min(1, Math.max(0, part)));
}

/** A line that is nearly silent is not drawn as if it were loud. */
const MIN_LOUDEST = 24;

/** The largest amplitude of both sides. */
export function loudestOf({ caller, assistant }: Lanes): number {
  let loudest = MIN_LOUDEST;
  for (const lane of [caller, assistant])
    for (const value of lane) loudest = Math.max(loudest, Math.abs(value));
  return loudest;
}
