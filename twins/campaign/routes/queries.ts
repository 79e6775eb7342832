/** What the routes of campaigns ask the database. */
import type { CallKey, CallRecord } from "../records.ts";
import type { CampaignStore, KeptCall } from "../store.ts";

/** How far a campaign is. */
export interface Progress {
  passed: number;
  failed: number;
  errors: number;
  /** Calls that ended within the last minute. */
  lastMinute: number;
  lastEndedAt: string | null;
}

const NO_PROGRESS: Progress = { passed: 0, failed: 0, errors: 0, lastMinute: 0, lastEndedAt: null };

/** How far campaigns are, by their ids. */
export async function readProgress(
  { pool }: CampaignStore,
  ids: readonly string[],
): Promise<(id: string) => Progress> {
  const { rows } = await pool.query<Omit<Progress, "lastEndedAt"> & { campaign: string; endedAt: Date }>(
    `SELECT campaign,
            count(*) FILTER (WHERE verdict = 'passed')::int AS passed,
            count(*) FILTER (WHERE verdict = 'failed')::int AS failed,
            count(*) FILTER (WHERE verdict = 'error')::int AS errors,
            count(*) FILTER (WHERE ended_at > now() - interval '1 minute')::int AS "lastMinute",
            max(ended_at) AS "endedAt"
       FROM campaign.calls WHERE campaign = ANY($1) GROUP BY campaign`,
    [ids],
  );
  const found = new Map(
    rows.map(({ campaign, endedAt, ...counts }) => [
      campaign,
      { ...counts, lastEndedAt: endedAt.toISOString() },
    ]),
  );
  return (id) => found.get(id) ?? NO_PROGRESS;
}

/** Which calls to list. */
export interface CallFilter {
  scenario?: string | undefined;
  variant?: string | undefined;
  verdict?: CallRecord["verdict"] | undefined;
  /** The last call of the page before. */
  after?: CallKey | undefined;
  limit: number;
}

/** A call of a list. */
export interface ListedCall extends CallRecord {
  /** Whether its report, its trace or its audio was kept. */
  kept: boolean;
}

/** The calls of a campaign in the order of their keys, one page of them. */
export async function listCalls(
  { pool }: CampaignStore,
  campaign: string,
  { scenario, variant, verdict, after, limit }: CallFilter,
): Promise<ListedCall[]> {
  const { rows } = await pool.query<
    Omit<ListedCall, "startedAt" | "endedAt"> & { startedAt: Date; endedAt: Date }
  >(
    `SELECT scenario, variant, repeat, verdict, failures, outcome, duration_ms AS "durationMs",
            response_ms AS "responseMs", tool_calls AS "toolCalls", started_at AS "startedAt", ended_at AS "endedAt",
            worker, attempts, held_up AS "heldUp",
            EXISTS (SELECT FROM campaign.kept k WHERE k.campaign = c.campaign AND k.scenario = c.scenario
                    AND k.variant = c.variant AND k.repeat = c.repeat) AS kept
       FROM campaign.calls c
      WHERE campaign = $1 AND ($2::text IS NULL OR scenario = $2) AND ($3::text IS NULL OR variant = $3)
        AND ($4::text IS NULL OR verdict = $4) AND (scenario, variant, repeat) > ($5, $6, $7)
      ORDER BY scenario, variant, repeat LIMIT $8`,
    [
      campaign,
      scenario ?? null,
      variant ?? null,
      verdict ?? null,
      ...[after?.scenario ?? "", after?.variant ?? "", after?.repeat ?? 0],
      limit,
    ],
  );
  return rows.map(({ startedAt, endedAt, ...row }) => ({
    ...row,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt.toISOString(),
  }));
}

/** The record of one call; `undefined`: it has none yet. */
export async function readCall(
  store: CampaignStore,
  campaign: string,
  { scenario, variant, repeat }: CallKey,
): Promise<ListedCall | undefined> {
  const [call] = await listCalls(store, campaign, {
    scenario,
    variant,
    after: { scenario, variant, repeat: repeat - 1 },
    limit: 1,
  });
  return call?.repeat === repeat ? call : undefined;
}

/** What was kept of a call, with the size of its audio instead of the audio. */
export interface KeptSummary extends Pick<KeptCall, "report" | "trace" | "omitted"> {
  /** `null`: there is none. */
  audioBytes: number | null;
}

const ONE_CALL = "campaign = $1 AND scenario = $2 AND variant = $3 AND repeat = $4";

/** @returns `undefined` when nothing of the call was kept */
export async function readKept(
  { pool }: CampaignStore,
  campaign: string,
  { scenario, variant, repeat }: CallKey,
): Promise<KeptSummary | undefined> {
  const { rows } = await pool.query<KeptSummary>(
    `SELECT report, trace, omitted, octet_length(audio) AS "audioBytes" FROM campaign.kept WHERE ${ONE_CALL}`,
    [campaign, scenario, variant, repeat],
  );
  return rows[0];
}

/** The size of a call's audio; `undefined`: none was kept. */
export async function audioSize(
  { pool }: CampaignStore,
  campaign: string,
  { scenario, variant, repeat }: CallKey,
): Promise<number | undefined> {
  const { rows } = await pool.query<{ bytes: number | null }>(
    `SELECT octet_length(audio) AS bytes FROM campaign.kept WHERE ${ONE_CALL}`,
    [campaign, scenario, variant, repeat],
  );
  return rows[0]?.bytes ?? undefined;
}

/** Bytes of a call's audio. @param end exclusive */
export async function readAudio(
  { pool }: CampaignStore,
  campaign: string,
  { scenario, variant, repeat }: CallKey,
  { start, end }: { start: number; end: number },
): Promise<Buffer> {
  const { rows } = await pool.query<{ bytes: Buffer }>(
    `SELECT substring(audio FROM $5 FOR $6) AS bytes FROM campaign.kept WHERE ${ONE_CALL}`,
    [campaign, scenario, variant, repeat, start + 1, end - start],
  );
  return rows[0]?.bytes ?? Buffer.alloc(0);
}
