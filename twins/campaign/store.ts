/** Reads and writes campaigns and what their calls left behind. */
import { randomBytes } from "node:crypto";
import type { TraceLine } from "@offhook/caller/sandbox-client";
import type pg from "pg";
import { inTransaction, openDatabase, type Query } from "./database.ts";
import { countCalls } from "./keys.ts";
import { type CallKey, type CallRecord, type Campaign, type CampaignSpec, specSchema } from "./records.ts";

/** A campaign that cannot be started, found or used; the message says what would be right. */
export class CampaignError extends Error {
  override name = "CampaignError";
}

/** What to start. */
export interface NewCampaign {
  name: string;
  spec: CampaignSpec;
  /** The text of each scenario of the specification, by name. */
  scenarios: ReadonlyMap<string, string>;
  baseline?: string | undefined;
}

/** What is kept of a call beside its record. */
export interface KeptCall {
  /** The caller's report, as of `npm run dial -- --json`. */
  report: unknown;
  trace: TraceLine[] | null;
  /** A stereo WAV: caller left, callee right. */
  audio: Buffer | null;
  /** What was not kept, and why. */
  omitted: string[];
}

/** Verdicts so far. */
export interface VerdictCounts {
  passed: number;
  failed: number;
  error: number;
}

const PAGE_ROWS = 1_000;
const ID_BYTES = 5;
const MAX_LISTED = 20;

interface CampaignRow {
  id: string;
  name: string;
  created_at: Date;
  ended_at: Date | null;
  cancelled: boolean;
  baseline: string | null;
  spec: unknown;
  expected_calls: string;
}

interface CallRow extends CallKey {
  verdict: CallRecord["verdict"];
  failures: string[];
  outcome: string | null;
  duration_ms: number;
  response_ms: number[];
  tool_calls: string[];
  started_at: Date;
  ended_at: Date;
  worker: string;
  attempts: number;
  held_up: boolean;
}

export class CampaignStore {
  /** Connections to the database; of the workers too. */
  readonly pool: pg.Pool;

  /** Opens a database and creates the tables that are missing. @throws when it cannot be reached */
  static async open(databaseUrl: string): Promise<CampaignStore> {
    return new CampaignStore(await openDatabase(databaseUrl));
  }

  private constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  /** @throws CampaignError when the baseline does not exist */
  async createCampaign({ name, spec, scenarios, baseline }: NewCampaign): Promise<Campaign> {
    if (baseline !== undefined) await this.readCampaign(baseline);
    const id = randomBytes(ID_BYTES).toString("hex");
    await inTransaction(this.pool, async (client) => {
      await client.query(
        `INSERT INTO campaign.campaigns (id, name, baseline, spec, expected_calls) VALUES ($1, $2, $3, $4, $5)`,
        [id, name, baseline ?? null, JSON.stringify(spec), countCalls(spec)],
      );
      await client.query(
        `INSERT INTO campaign.scenarios (campaign, name, text) SELECT $1, * FROM unnest($2::text[], $3::text[])`,
        [id, [...scenarios.keys()], [...scenarios.values()]],
      );
    });
    return this.readCampaign(id);
  }

  /** @throws CampaignError when there is none of this id */
  async readCampaign(id: string): Promise<Campaign> {
    const { rows } = await this.pool.query<CampaignRow>("SELECT * FROM campaign.campaigns WHERE id = $1", [
      id,
    ]);
    const [row] = rows;
    if (row !== undefined) return campaignOf(row);
    const known = (await this.listCampaigns()).slice(0, MAX_LISTED).map((each) => each.id);
    const advice = known.length === 0 ? "none has been started" : `there are: ${known.join(", ")}`;
    throw new CampaignError(`there is no campaign ${id}; ${advice}`);
  }

  /** The newest first. */
  async listCampaigns(): Promise<Campaign[]> {
    const { rows } = await this.pool.query<CampaignRow>(
      `SELECT * FROM campaign.campaigns ORDER BY created_at DESC, id LIMIT ${PAGE_ROWS}`,
    );
    return rows.map(campaignOf);
  }

  /** Campaigns that miss calls and are not cancelled, the oldest first. */
  async listRunning(): Promise<Campaign[]> {
    const { rows } = await this.pool.query<CampaignRow>(
      "SELECT * FROM campaign.campaigns WHERE ended_at IS NULL AND NOT cancelled ORDER BY created_at, id",
    );
    return rows.map(campaignOf);
  }

  /** The text of a scenario as the campaign was started with it. @throws CampaignError */
  async scenarioText(campaign: string, name: string): Promise<string> {
    const { rows } = await this.pool.query<{ text: string }>(
      "SELECT text FROM campaign.scenarios WHERE campaign = $1 AND name = $2",
      [campaign, name],
    );
    const [row] = rows;
    if (row === undefined) throw new CampaignError(`campaign ${campaign} has no scenario ${name}`);
    return row.text;
  }

  /** The records of a campaign, in the order of their keys. */
  async *records(campaign: string): AsyncGenerator<CallRecord, void, undefined> {
    let last: CallKey = { scenario: "", variant: "", repeat: 0 };
    for (;;) {
      const { rows } = await this.pool.query<CallRow>(
        `SELECT * FROM campaign.calls WHERE campaign = $1 AND (scenario, variant, repeat) > ($2, $3, $4)
         ORDER BY scenario, variant, repeat LIMIT ${PAGE_ROWS}`,
        [campaign, last.scenario, last.variant, last.repeat],
      );
      for (const row of rows) yield recordOf(row);
      const end = rows.at(-1);
      if (end === undefined || rows.length < PAGE_ROWS) return;
      last = end;
    }
  }

  /** @returns `undefined` when nothing of the call was kept */
  async kept(campaign: string, { scenario, variant, repeat }: CallKey): Promise<KeptCall | undefined> {
    const { rows } = await this.pool.query<KeptCall>(
      `SELECT report, trace, audio, omitted FROM campaign.kept
        WHERE campaign = $1 AND scenario = $2 AND variant = $3 AND repeat = $4`,
      [campaign, scenario, variant, repeat],
    );
    return rows[0];
  }

  async countVerdicts(campaign: string): Promise<VerdictCounts> {
    const { rows } = await this.pool.query<{ verdict: CallRecord["verdict"]; calls: number }>(
      "SELECT verdict, count(*)::int AS calls FROM campaign.calls WHERE campaign = $1 GROUP BY verdict",
      [campaign],
    );
    const counts: VerdictCounts = { passed: 0, failed: 0, error: 0 };
    for (const { verdict, calls } of rows) counts[verdict] = calls;
    return counts;
  }

  /** Stops a campaign: no further call begins. Calls that run are finished and count. @throws CampaignError */
  async cancelCampaign(id: string): Promise<void> {
    const { endedAt } = await this.readCampaign(id);
    if (endedAt !== null) throw new CampaignError(`campaign ${id} ended at ${endedAt}: nothing to cancel`);
    await this.pool.query("UPDATE campaign.campaigns SET cancelled = true WHERE id = $1", [id]);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

/**
 * Writes the records of calls that have none yet.
 * @returns the keys that were written; a key that is missing had a record
 */
export async function insertRecords(
  client: Query,
  campaign: string,
  records: readonly CallRecord[],
): Promise<CallKey[]> {
  const { rows } = await client.query<CallKey>(
    `INSERT INTO campaign.calls
       SELECT $1, r.scenario, r.variant, r.repeat, r.verdict, r.failures, r.outcome, r."durationMs", r."responseMs",
              r."toolCalls", r."startedAt", r."endedAt", r.worker, r.attempts, r."heldUp"
         FROM jsonb_to_recordset($2) AS r (scenario text, variant text, repeat int, verdict text, failures text[],
              outcome text, "durationMs" float8, "responseMs" float8[], "toolCalls" text[], "startedAt" timestamptz,
              "endedAt" timestamptz, worker text, attempts int, "heldUp" boolean)
     ON CONFLICT DO NOTHING RETURNING scenario, variant, repeat`,
    [campaign, JSON.stringify(records)],
  );
  return rows;
}

/** Reserves bytes of a campaign's share. @returns whether there was room */
export async function reserveBytes(client: Query, campaign: Campaign, bytes: number): Promise<boolean> {
  const { rowCount } = await client.query(
    "UPDATE campaign.campaigns SET kept_bytes = kept_bytes + $2 WHERE id = $1 AND kept_bytes + $2 <= $3",
    [campaign.id, bytes, campaign.spec.keepLimits.campaignBytes],
  );
  return rowCount === 1;
}

export async function insertKept(
  client: Query,
  campaign: string,
  { scenario, variant, repeat }: CallKey,
  { report, trace, audio, omitted }: KeptCall,
): Promise<void> {
  await client.query("INSERT INTO campaign.kept VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", [
    campaign,
    scenario,
    variant,
    repeat,
    report === null ? null : JSON.stringify(report),
    trace === null ? null : JSON.stringify(trace),
    audio,
    omitted,
  ]);
}

function campaignOf(row: CampaignRow): Campaign {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
    cancelled: row.cancelled,
    baseline: row.baseline,
    spec: specSchema.parse(row.spec),
    expectedCalls: Number(row.expected_calls),
  };
}

function recordOf({
  scenario,
  variant,
  repeat,
  verdict,
  failures,
  outcome,
  worker,
  attempts,
  ...row
}: CallRow) {
  return {
    ...{ scenario, variant, repeat, verdict, failures, outcome, worker, attempts },
    durationMs: row.duration_ms,
    responseMs: row.response_ms,
    heldUp: row.held_up,
    toolCalls: row.tool_calls,
    startedAt: row.started_at.toISOString(),
    endedAt: row.ended_at.toISOString(),
  };
}
