/** A request as `/sim/requests/{seq}` shows it. */
export interface JournalEntry {
  seq: number;
  tier: "vendor" | "control";
  operation: string | null;
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: unknown;
  status: number | null;
  response: { headers: Record<string, string>; body: unknown } | null;
  notes: unknown;
  fault: string | null;
  duration_ms: number | null;
  received_at: string;
  simulated_at: string;
}

/** The entry that the address names: `vapi:42`. */
export interface EntryPlace {
  twin: string;
  seq: number;
}

export function readEntryPlace(text: string | null): EntryPlace | undefined {
  const [, twin = "", seq = ""] = /^([\w-]+):(\d+)$/.exec(text ?? "") ?? [];
  return twin === "" ? undefined : { twin, seq: Number(seq) };
}

export const entryText = ({ twin, seq }: EntryPlace) => `${twin}:${seq}`;
