/** Memory in use after a garbage collection. */
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Bytes of objects and buffers, including garbage. */
export function usedBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Bytes of reachable objects, measured at once: freed buffers may still count. */
export function heldBytesNow(): number {
  collect();
  return usedBytes();
}

/** Bytes of reachable objects and buffers. Waits, since buffers are freed shortly after the collection. */
export async function heldBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collect();
    await setImmediate();
  }
  return usedBytes();
}
