/** Memory that is really held: what garbage there happens to be is collected first. */
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Bytes of objects and buffers, with what garbage there is. */
export function usedBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Bytes of objects and buffers that are reachable, without a turn of the event loop: buffers may still be counted. */
export function heldBytesNow(): number {
  collect();
  return usedBytes();
}

/** Bytes of objects and buffers that are reachable. Buffers are given back beside the collector's own work, a moment later. */
export async function heldBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collect();
    await setImmediate();
  }
  return usedBytes();
}
