/** What the control plane's routes answer, as far as several pages read it. */

/** A request to a twin, without its bodies. */
export interface RequestSummary {
  twin: string;
  seq: number;
  tier: "vendor" | "control";
  operation: string | null;
  method: string;
  path: string;
  status: number | null;
  duration_ms: number | null;
  received_at: string;
  simulated_at: string;
  fault: string | null;
  sql: string | null;
  notes: boolean;
}

/** A change of a twin's world. */
export interface Change {
  twin: string;
  state_version: number;
  table: string;
  change: "insert" | "update" | "remove" | "reset";
  row?: Record<string, unknown>;
  at: string;
}

interface TwinAddresses {
  name: string;
  url: string;
  control_url: string;
}

export interface SandboxDescription {
  id: string;
  environment: string;
  twins: TwinAddresses[];
}
