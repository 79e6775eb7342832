/**
 * The calls of campaigns as jobs of pg-boss: a queue for each campaign, and one for calls that could not be judged.
 *
 * pg-boss gives jobs out, retries, expires and dead-letters them. Added to it: a verdict is written in the transaction
 * that removes its job, so it counts once; and a claim says which worker has a job, so that the jobs of a worker whose
 * connection is gone go back without waiting for their expiry.
 */
import PgBoss from "pg-boss";
import { z } from "zod";
import { inTransaction, type Query } from "./database.ts";
import { isKept, type Keepable, keepCall } from "./keep.ts";
import { callAt, jobIdOf } from "./keys.ts";
import { lockIfGone } from "./presence.ts";
import type { CallKey, CallRecord, Campaign } from "./records.ts";
import { type CampaignStore, insertRecords } from "./store.ts";

/** A call that a worker has to place. */
export interface ClaimedCall {
  jobId: string;
  campaign: Campaign;
  key: CallKey;
  /** Counts from 1. */
  attempt: number;
}

/** A call that was placed and judged. */
export interface JudgedCall {
  claim: ClaimedCall;
  record: CallRecord;
  keepable: Keepable;
}

/** Queue of the calls of which every attempt failed. */
const UNJUDGED_QUEUE = "campaign-unjudged";
/**
 * Jobs handed to pg-boss at a time. Its fetch sorts all waiting jobs of a queue, so the queue stays short however large
 * the campaign is.
 */
const BATCH_CALLS = 1_000;
/** Longer than any call: ten minutes of audio at the lowest speed that is usual, and the time around it. */
const EXPIRE_SECONDS = 1_800;
const RETENTION_DAYS = 30;
const MAINTENANCE_SECONDS = 30;
const UNJUDGED_PER_TURN = 100;
const WORKER_ENDED = "the worker that placed the call ended during it";

const jobData = z.object({
  campaign: z.string(),
  scenario: z.string(),
  variant: z.string(),
  repeat: z.int(),
});
const jobOutput = z.object({ message: z.string() });

export class CallQueue {
  readonly #store: CampaignStore;
  readonly #boss: PgBoss;

  /** @param onError of pg-boss's own maintenance, which it repeats */
  static async open(store: CampaignStore, onError: (error: Error) => void): Promise<CallQueue> {
    const boss = new PgBoss({
      db: bossDatabase(store.pool),
      schedule: false,
      maintenanceIntervalSeconds: MAINTENANCE_SECONDS,
    });
    boss.on("error", onError);
    await boss.start();
    await boss.createQueue(UNJUDGED_QUEUE, { name: UNJUDGED_QUEUE });
    return new CallQueue(store, boss);
  }

  private constructor(store: CampaignStore, boss: PgBoss) {
    this.#store = store;
    this.#boss = boss;
  }

  /** Makes a campaign's calls available to workers; of a campaign that was stopped, those that have no verdict. */
  async offer({ id, spec }: Campaign): Promise<void> {
    await this.#boss.createQueue(queueOf(id), {
      name: queueOf(id),
      deadLetter: UNJUDGED_QUEUE,
      retryLimit: spec.attempts - 1,
      retryDelay: 1,
      retryBackoff: true,
      expireInSeconds: EXPIRE_SECONDS,
      retentionDays: RETENTION_DAYS,
    });
    await this.#store.pool.query(
      "UPDATE campaign.campaigns SET cancelled = false, enqueued_calls = 0 WHERE id = $1 AND ended_at IS NULL",
      [id],
    );
  }

  /** Takes up to `max` calls of a campaign for a worker. */
  async claim(campaign: Campaign, worker: number, max: number): Promise<ClaimedCall[]> {
    const claimed = await this.#fetch(campaign, worker, max);
    if (claimed.length === max || !(await this.#refill(campaign))) return claimed;
    return [...claimed, ...(await this.#fetch(campaign, worker, max - claimed.length))];
  }

  /** Writes verdicts and removes their jobs, in one transaction. A verdict that is there already stays. */
  async finish(calls: readonly JudgedCall[]): Promise<void> {
    const campaigns = new Map(calls.map(({ claim: { campaign } }) => [campaign.id, campaign]));
    await inTransaction(this.#store.pool, async (client) => {
      for (const campaign of campaigns.values()) {
        const group = calls.filter(({ claim }) => claim.campaign.id === campaign.id);
        await this.#finishGroup(client, campaign, group);
      }
    });
  }

  /** Gives a call back after a failed attempt, to be tried again later or to count as an error. */
  async giveBack({ jobId, campaign }: ClaimedCall, reason: string): Promise<void> {
    await inTransaction(this.#store.pool, (client) =>
      this.#fail(client, queueOf(campaign.id), jobId, reason),
    );
  }

  /** Gives back the calls of workers that are gone. @returns how many calls */
  async returnLost(): Promise<number> {
    const { rows } = await this.#store.pool.query<{ worker: number }>(
      "SELECT DISTINCT worker FROM campaign.claims",
    );
    let returned = 0;
    for (const { worker } of rows) {
      returned += await inTransaction(this.#store.pool, (client) => this.#returnCallsOf(client, worker));
    }
    return returned;
  }

  /** Writes the verdict `error` for calls of which every attempt failed. */
  async judgeFailed(worker: string): Promise<void> {
    const options = { includeMetadata: true, batchSize: UNJUDGED_PER_TURN } as const;
    await inTransaction(this.#store.pool, async (client) => {
      const jobs = await fetchStrictly(client, (db) =>
        this.#boss.fetch<unknown>(UNJUDGED_QUEUE, { ...options, db }),
      );
      for (const { data, output, createdOn } of jobs) {
        const { campaign, ...key } = jobData.parse(data);
        const reason = jobOutput.safeParse(output).data?.message ?? JSON.stringify(output);
        const { spec } = await this.#store.readCampaign(campaign);
        const at = createdOn.toISOString();
        await insertRecords(client, campaign, [
          {
            ...key,
            verdict: "error",
            failures: [reason],
            outcome: null,
            durationMs: 0,
            responseMs: [],
            heldUp: false,
            toolCalls: [],
            startedAt: at,
            endedAt: at,
            worker,
            attempts: spec.attempts,
          },
        ]);
        await this.#boss.deleteJob(queueOf(campaign), jobIdOf(campaign, key), { db: bossDatabase(client) });
      }
      const ids = jobs.map(({ id }) => id);
      if (ids.length > 0) await this.#boss.deleteJob(UNJUDGED_QUEUE, ids, { db: bossDatabase(client) });
    });
  }

  /** Ends a campaign whose calls all have verdicts, and removes its queue. @returns whether it has ended */
  async endIfComplete({ id, expectedCalls }: Campaign): Promise<boolean> {
    if ((await this.#boss.getQueueSize(queueOf(id), { before: "completed" })) > 0) return false;
    const { passed, failed, error } = await this.#store.countVerdicts(id);
    if (passed + failed + error < expectedCalls) return false;
    await this.#store.pool.query(
      "UPDATE campaign.campaigns SET ended_at = now() WHERE id = $1 AND ended_at IS NULL",
      [id],
    );
    await this.#boss.deleteQueue(queueOf(id));
    return true;
  }

  /** Ends pg-boss's maintenance; the store stays open. */
  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false });
  }

  async #fetch(campaign: Campaign, worker: number, max: number): Promise<ClaimedCall[]> {
    const queue = queueOf(campaign.id);
    return inTransaction(this.#store.pool, async (client) => {
      const jobs = await fetchStrictly(client, (db) =>
        this.#boss.fetch<unknown>(queue, { includeMetadata: true, priority: false, batchSize: max, db }),
      );
      if (jobs.length === 0) return [];
      await client.query(
        `INSERT INTO campaign.claims SELECT unnest($1::uuid[]), $2, $3
         ON CONFLICT (job) DO UPDATE SET worker = EXCLUDED.worker`,
        [jobs.map(({ id }) => id), queue, worker],
      );
      return jobs.map(({ id, data, retryCount }) => {
        const { scenario, variant, repeat } = jobData.parse(data);
        return { jobId: id, campaign, key: { scenario, variant, repeat }, attempt: retryCount + 1 };
      });
    });
  }

  /** Hands the next calls to pg-boss. @returns whether there were any */
  async #refill({ id, spec, expectedCalls }: Campaign): Promise<boolean> {
    return inTransaction(this.#store.pool, async (client) => {
      // Another worker may be at it.
      const { rows } = await client.query<{ enqueued_calls: string }>(
        "SELECT enqueued_calls FROM campaign.campaigns WHERE id = $1 AND NOT cancelled FOR UPDATE SKIP LOCKED",
        [id],
      );
      const first = Number(rows[0]?.enqueued_calls ?? expectedCalls);
      const end = Math.min(first + BATCH_CALLS, expectedCalls);
      if (first >= end) return false;
      const keys = Array.from({ length: end - first }, (_, offset) => callAt(spec, first + offset));
      const judged = await judgedAmong(client, id, keys);
      const jobs = keys
        .map((key) => ({ id: jobIdOf(id, key), name: queueOf(id), data: { campaign: id, ...key } }))
        .filter((job) => !judged.has(job.id));
      if (jobs.length > 0) await this.#boss.insert(jobs, { db: bossDatabase(client) });
      await client.query("UPDATE campaign.campaigns SET enqueued_calls = $2 WHERE id = $1", [id, end]);
      return true;
    });
  }

  async #finishGroup(client: Query, campaign: Campaign, calls: readonly JudgedCall[]): Promise<void> {
    const written = await insertRecords(
      client,
      campaign.id,
      calls.map(({ record }) => record),
    );
    const ids = new Set(written.map((key) => jobIdOf(campaign.id, key)));
    for (const { claim, record, keepable } of calls) {
      if (!ids.has(claim.jobId) || !isKept(campaign.spec.keep, record.verdict)) continue;
      await keepCall(client, campaign, record, keepable);
    }
    const jobs = calls.map(({ claim }) => claim.jobId);
    await this.#boss.deleteJob(queueOf(campaign.id), jobs, { db: bossDatabase(client) });
    await client.query("DELETE FROM campaign.claims WHERE job = ANY ($1)", [jobs]);
  }

  async #returnCallsOf(client: Query, worker: number): Promise<number> {
    if (!(await lockIfGone(client, worker))) return 0;
    const { rows } = await client.query<{ job: string; queue: string }>(
      "SELECT job, queue FROM campaign.claims WHERE worker = $1 FOR UPDATE",
      [worker],
    );
    for (const { queue, job } of rows) await this.#fail(client, queue, job, WORKER_ENDED);
    return rows.length;
  }

  async #fail(client: Query, queue: string, job: string, message: string): Promise<void> {
    await this.#boss.fail(queue, job, { message }, { db: bossDatabase(client) });
    await client.query("DELETE FROM campaign.claims WHERE job = $1", [job]);
  }
}

function queueOf(campaign: string): string {
  return `campaign-${campaign}`;
}

function bossDatabase(client: Query): PgBoss.Db {
  return { executeSql: (text, values) => client.query(text, values) };
}

/** Fetches jobs. pg-boss takes every error of its fetch for a lost race: another is thrown here. */
async function fetchStrictly<Job>(
  client: Query,
  fetchWith: (db: PgBoss.Db) => Promise<Job[]>,
): Promise<Job[]> {
  let failure: unknown;
  const jobs = await fetchWith({
    executeSql: async (text, values) => {
      try {
        return await client.query(text, values);
      } catch (error) {
        failure = error;
        throw error;
      }
    },
  });
  if (failure !== undefined) throw failure;
  return jobs;
}

/** The ids of jobs of which the calls have verdicts. */
async function judgedAmong(client: Query, campaign: string, keys: readonly CallKey[]): Promise<Set<string>> {
  const { rows } = await client.query<CallKey>(
    `SELECT scenario, variant, repeat FROM campaign.calls
      WHERE campaign = $1 AND (scenario, variant, repeat) IN
            (SELECT * FROM unnest($2::text[], $3::text[], $4::int[]))`,
    [
      campaign,
      keys.map((key) => key.scenario),
      keys.map((key) => key.variant),
      keys.map((key) => key.repeat),
    ],
  );
  return new Set(rows.map((key) => jobIdOf(campaign, key)));
}
