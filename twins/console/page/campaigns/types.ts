/** What the routes of campaigns answer, as far as the page reads it. */

export interface Rate {
  value: number;
  low: number;
  high: number;
}

/** How far a campaign is. */
export interface CampaignSummary {
  id: string;
  name: string;
  state: "running" | "ended" | "cancelled";
  created_at: string;
  ended_at: string | null;
  expected_calls: number;
  calls: number;
  pass_rate: Rate | null;
  errors: number;
  /** Calls that ended within the last minute. */
  last_minute: number;
}

export interface CampaignList {
  /** `asleep`: there may be campaigns, but their database does not run. */
  database: "running" | "asleep" | "none";
  message?: string;
  campaigns: CampaignSummary[];
}

interface CellKey {
  scenario: string;
  variant: string;
}

export interface Cell extends CellKey {
  calls: number;
  passed: number;
  failed: number;
  errors: number;
  pass_rate: Rate | null;
  pass_hat: { k: number; value: number }[];
  /** Calls that a busy machine held up: their responses are not counted. */
  held_up: number;
  response: { turns: number; p50_ms: number; p95_ms: number } | null;
  flaky: boolean;
}

interface FailureCount {
  verdict: "failed" | "error";
  words: string;
  calls: number;
}

export interface CampaignReport {
  headline: string;
  campaign: Pick<CampaignSummary, "id" | "name" | "state" | "created_at" | "ended_at">;
  total: Omit<Cell, keyof CellKey | "flaky">;
  variants: { variant: string }[];
  scenarios: { scenario: string }[];
  cells: Cell[];
  flaky: Cell[];
  failures: FailureCount[];
  comparison: {
    baseline: { id: string };
    words: { overall: string; beyond_chance: string[]; others: string[] };
  } | null;
}

export interface CallRow extends CellKey {
  repeat: number;
  verdict: "passed" | "failed" | "error";
  failures: string[];
  duration_ms: number;
  response_ms: number[];
  held_up: boolean;
  started_at: string;
  worker: string;
  attempts: number;
  kept: boolean;
}

export interface CallPage {
  calls: CallRow[];
  next: string | null;
}

export interface WholeCall {
  call: CallRow;
  kept: { report: unknown; trace: unknown; omitted: string[]; audio_bytes: number | null } | null;
}
