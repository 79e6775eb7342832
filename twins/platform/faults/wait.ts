/** Waits that end when the fault is removed or the client disconnects, so that nothing hangs forever. */
import type { EventEmitter } from "node:events";
import type { ArmedFault } from "./armed-fault.ts";

/** What a client holds open: an answer, or a connection. */
export type Held = EventEmitter & { readonly destroyed: boolean };

/** How many requests one fault holds up; further ones continue at once. */
const MAX_WAITING = 1000;

/** Waits for `ms`, or until the fault is removed. @returns whether the client is still connected */
export function pause(ms: number, fault: ArmedFault, client: Held): Promise<boolean> {
  return ms === 0 ? Promise.resolve(!client.destroyed) : wait(fault, client, ms);
}

/** Waits until the fault is removed. @returns whether the client is still connected */
export function waitUntilRemoved(fault: ArmedFault, client: Held): Promise<boolean> {
  return wait(fault, client);
}

function wait(fault: ArmedFault, client: Held, ms?: number): Promise<boolean> {
  if (client.destroyed) return Promise.resolve(false);
  if (fault.waiting >= MAX_WAITING) return Promise.resolve(true);
  return new Promise((resolve) => {
    const done = (there: boolean) => {
      clearTimeout(timer);
      forget();
      client.off("close", leave);
      resolve(there);
    };
    const leave = () => done(false);
    const timer = ms === undefined ? undefined : setTimeout(() => done(true), ms);
    client.once("close", leave);
    let forget = () => {};
    forget = fault.onRemoved(() => done(true));
  });
}
