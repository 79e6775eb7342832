/** Faults on what does not come over HTTP: a twin asks for what arrived, and holds it up as it is told. */
import type { Socket } from "node:net";
import type { ArmedFault } from "./armed-fault.ts";
import type { RequestFault } from "./fault.ts";
import type { Faults } from "./faults.ts";
import { resetConnection } from "./reset.ts";
import { pause, waitUntilRemoved } from "./wait.ts";

/** What a twin is given of its faults. */
export type FaultGate = Pick<Faults, "forRequest">;

/** The effects there are on a connection; an answer that is not HTTP cannot be worded or cut by the platform. */
export const connectionEffects = ["reset", "hang", "slow"] as const;

/** Answers whether what arrived is to go on; if not, the connection has ended, or ends now. */
export async function holdUp(fault: ArmedFault<RequestFault>, connection: Socket): Promise<boolean> {
  if (!(await pause(fault.spec.delay_ms ?? 0, fault, connection))) return false;
  if (fault.spec.effect === "hang") return waitUntilRemoved(fault, connection);
  if (fault.spec.effect === "reset") resetConnection(connection);
  return fault.spec.effect !== "reset";
}
