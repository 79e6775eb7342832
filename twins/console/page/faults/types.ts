/** Faults as the control plane describes them. */

/** The body of `POST /sim/faults`; its members depend on the effect. */
interface FaultSpec {
  effect: string;
  operation?: string;
  all?: true;
  [member: string]: unknown;
}

export interface ArmedFault extends FaultSpec {
  id: string;
  state: "armed" | "spent";
  seen: number;
  hits: number;
  remaining: number | null;
}

export interface FaultTemplate {
  name: string;
  description: string;
  fault: FaultSpec;
}

/** Members that the table has columns for, or that tell how it goes. */
const SHOWN = new Set(["id", "twin", "effect", "operation", "all", "state", "seen", "hits", "remaining"]);

/** Whatever else a fault says: `status 500, times 1`. */
export function describeDetails(fault: ArmedFault): string {
  return Object.entries(fault)
    .filter(([name]) => !SHOWN.has(name))
    .map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`)
    .join(", ");
}
