/** Faults on connections that are not HTTP: the twin asks which fault strikes, and applies it with `holdUp`. */
import type { Socket } from "node:net";
import type { ArmedFault } from "./armed-fault.ts";
import type { RequestFault } from "./fault.ts";
import type { Faults } from "./faults.ts";
import { resetConnection } from "./reset.ts";
import { pause, waitUntilRemoved } from "./wait.ts";

/** The part of its faults that a twin sees. */
export type FaultGate = Pick<Faults, "forRequest">;

/** The effects on a connection; the platform cannot word or truncate answers of other protocols. */
export const connectionEffects = ["reset", "hang", "slow"] as const;

/** Applies a fault. @returns whether the twin should continue; if not, the connection is closed or closing */
export async function holdUp(fault: ArmedFault<RequestFault>, connection: Socket): Promise<boolean> {
  if (!(await pause(fault.spec.delay_ms ?? 0, fault, connection))) return false;
  if (fault.spec.effect === "hang") return waitUntilRemoved(fault, connection);
  if (fault.spec.effect === "reset") resetConnection(connection);
  return fault.spec.effect !== "reset";
}
