/** The jobs behind the rows of `jobs`: removing a row ends its search, and a row from a snapshot is searched again. */
import type { JobArtifact } from "../spl/context/knowledge.ts";
import { limit } from "../spl/relation/order.ts";
import { emptyRows, type Rows } from "../spl/relation/rows.ts";
import { rightsOfAccount } from "../world/access.ts";
import type { JobRow } from "../world/tables.ts";
import { Job, type JobParts } from "./job.ts";
import { DEFAULT_TTL_S, type JobRequest } from "./job-request.ts";
import { Slots } from "./slots.ts";

/** Searches that run at a time, and searches that may wait. */
export const MAX_RUNNING = 10;
const MAX_WAITING = 100;
/** Maximum of result values to keep in memory. Beyond it the least recently used results are dropped, and found again on demand. */
const MAX_RESULT_VALUES = 4_000_000;

/** The queue of waiting searches is full. */
export class TooManySearches extends Error {}

/** Reported disk usage of a job's results. */
export function diskUsageBytes({ result_count }: Pick<JobRow, "result_count">): number {
  return result_count * 256 + 8192;
}

const MEGABYTE = 1_048_576;

/** The results of an account's searches reached their quota. */
export class DiskQuotaReached extends Error {
  readonly usedMb: number;
  constructor(usedMb: number) {
    super();
    this.usedMb = usedMb;
  }
}

export class JobBook {
  readonly #parts: JobParts;
  /** By sid, the most recently used last. */
  readonly #live = new Map<string, Job>();
  readonly #maxValues: number;
  readonly #unwatch: () => void;
  #sidCount = 0;
  /** No job expires before this time. */
  #nextExpiryMs = Number.NEGATIVE_INFINITY;

  constructor(parts: Omit<JobParts, "slots" | "onFinished">, { maxValues = MAX_RESULT_VALUES } = {}) {
    this.#maxValues = maxValues;
    this.#parts = { ...parts, slots: new Slots(MAX_RUNNING), onFinished: () => this.#evictResults() };
    this.#unwatch = parts.tables.watch(({ table, change, row }) => {
      if (table !== "jobs") return;
      if (change === "reset") this.#nextExpiryMs = Number.NEGATIVE_INFINITY;
      if (change === "reset" || change === "remove") this.#dropRemoved();
      else this.#nextExpiryMs = Math.min(this.#nextExpiryMs, Date.parse(String(row?.expires_at)));
    });
  }

  /** @throws SplError of phase `dispatch`, TooManySearches, DiskQuotaReached */
  start(request: JobRequest): Job {
    this.#expire();
    if (this.#parts.slots.waiting >= MAX_WAITING) throw new TooManySearches();
    this.#checkDiskQuota(request);
    const sid = request.sid ?? this.#newSid();
    const job = new Job(this.#parts, request, sid);
    const { earliestMs, latestMs } = request.range;
    this.#parts.tables.table("jobs").insert({
      sid,
      search: request.search,
      owner: request.owner,
      app: request.app,
      saved_search: request.savedSearch ?? null,
      saved_search_owner: request.savedSearchOwner ?? null,
      readers: [...(request.readers ?? [])],
      state: "QUEUED",
      created_at: new Date(job.createdMs).toISOString(),
      expires_at: new Date(job.createdMs + request.ttlS * 1000).toISOString(),
      ttl_s: request.ttlS,
      priority: request.priority,
      earliest_at: momentOf(earliestMs),
      latest_at: momentOf(latestMs),
      request: request.given,
    });
    this.#live.set(sid, job);
    void job.done;
    return job;
  }

  #checkDiskQuota({ owner, diskQuotaMb = 0 }: JobRequest): void {
    if (diskQuotaMb === 0) return;
    const rows = this.#parts.tables.table("jobs").all();
    // Shortcut: even with the largest results, this many jobs stay below the quota.
    if (rows.length * diskUsageBytes({ result_count: 50_000 }) <= diskQuotaMb * MEGABYTE) return;
    const bytes = rows.reduce((sum, row) => sum + (row.owner === owner ? diskUsageBytes(row) : 0), 0);
    if (bytes > diskQuotaMb * MEGABYTE) throw new DiskQuotaReached(Math.round(bytes / MEGABYTE));
  }

  /** Finds a job that has not expired. */
  find(sid: string): Job | undefined {
    this.#expire();
    const row = this.#parts.tables.table("jobs").get(sid);
    if (!row) return undefined;
    const job = this.#live.get(sid) ?? this.#restore(row);
    job.presence.touch();
    // Moves the job to the end of the eviction order.
    this.#live.delete(sid);
    this.#live.set(sid, job);
    // A job that was running when its snapshot was taken runs again.
    if (!job.isOver) void job.done;
    return job;
  }

  /** Finds the latest equal search that started within the last `seconds`. */
  findReusable({ search, owner, app, given }: JobRequest, seconds: number): Job | undefined {
    const sinceMs = this.#parts.clock.now() - seconds * 1000;
    const same = (of: JobRow["request"]) =>
      ["earliest_time", "latest_time", "now"].every((name) => of[name] === given[name]);
    return this.list().find(({ row }) => {
      if (row === undefined || row.state === "FAILED" || Date.parse(row.created_at) < sinceMs) return false;
      return row.search === search && row.owner === owner && row.app === app && same(row.request);
    });
  }

  /** Number of running searches of an owner. */
  countRunning(owner: string): number {
    return this.#parts.slots.countRunning(owner);
  }

  /** All jobs, the latest first. */
  list(): Job[] {
    this.#expire();
    const jobs = this.#parts.tables.table("jobs").all();
    return jobs.map((row) => this.#live.get(row.sid) ?? this.#restore(row)).reverse();
  }

  /** Ends a job and removes it. */
  remove(sid: string): void {
    this.#parts.tables.table("jobs").remove(sid);
  }

  /**
   * Waits for a job and returns its rows: the job of a sid, or the latest but `offset` of a saved search (`owner:app:name`).
   * @param user reads the rows, and must be allowed to
   */
  async results(
    name: string,
    { offset, part }: JobArtifact = { offset: 0, part: "results" },
    user?: string,
  ): Promise<Rows | undefined> {
    const job = this.find(name) ?? this.#ofSaved(name)[offset];
    if (job === undefined || (user !== undefined && !this.#mayRead(user, job))) return undefined;
    await job.done;
    if (part === "results" || job.isEvents || job.rows === undefined) return job.rows;
    if (job.events === undefined || !job.keepsEvents) return emptyRows;
    const { maxCount } = job.request;
    const context = await job.openContext(new AbortController().signal);
    return context.run(limit(job.events, maxCount), maxCount);
  }

  #mayRead(user: string, { request, row }: Job): boolean {
    if (request.owner === user) return true;
    const { capabilities, roles } = rightsOfAccount(this.#parts.tables, user);
    if (capabilities.has("admin_all_objects")) return true;
    return row?.readers.some((one) => one === "*" || one === user || roles.has(one)) ?? false;
  }

  /** Ends all jobs. */
  async stop(): Promise<void> {
    this.#unwatch();
    const jobs = [...this.#live.values()];
    this.#live.clear();
    for (const job of jobs) job.cancel();
    await Promise.allSettled(jobs.map(({ done }) => done));
  }

  /** Rebuilds a job from a snapshot's row. Its results are found again on demand. */
  #restore(row: JobRow): Job {
    const time = (text: string | null) => (text === null ? undefined : Date.parse(text));
    const job = new Job(
      this.#parts,
      {
        search: row.search,
        owner: row.owner,
        app: row.app,
        sid: row.sid,
        savedSearch: row.saved_search ?? undefined,
        savedSearchOwner: row.saved_search_owner ?? undefined,
        label: String(row.request.label ?? ""),
        range: { earliestMs: time(row.earliest_at), latestMs: time(row.latest_at) },
        nowMs: time(row.created_at),
        maxCount: 50_000,
        maxTimeS: 0,
        ttlS: row.ttl_s ?? DEFAULT_TTL_S,
        statusBuckets: Number(row.request.status_buckets ?? 0),
        priority: row.priority,
        quota: 0,
        given: row.request,
      },
      row.sid,
    );
    this.#live.set(row.sid, job);
    return job;
  }

  #ofSaved(name: string): Job[] {
    const [owner, app, ...rest] = name.split(":");
    const saved = rest.join(":");
    return this.list().filter(({ row, request }) => {
      if (request.savedSearch === undefined || row?.state !== "DONE") return false;
      return (
        request.savedSearch === saved && request.app === app && (owner === "-" || request.owner === owner)
      );
    });
  }

  #newSid(): string {
    const seconds = Math.floor(this.#parts.clock.now() / 1000);
    let sid: string;
    do sid = `${seconds}.${++this.#sidCount}`;
    while (this.#parts.tables.table("jobs").get(sid));
    return sid;
  }

  /** Removes finished jobs whose time to live is over, and jobs that `auto_cancel` ends. */
  #expire(): void {
    const nowMs = this.#parts.clock.now();
    for (const [sid, job] of this.#live) if (job.presence.isAbandoned) this.remove(sid);
    if (nowMs < this.#nextExpiryMs) return;
    let next = Number.POSITIVE_INFINITY;
    for (const { sid, state, expires_at } of this.#parts.tables.table("jobs").all()) {
      const expiresMs = Date.parse(expires_at);
      const isOver = state === "DONE" || state === "FAILED";
      if (isOver && expiresMs <= nowMs) this.remove(sid);
      // A running job sets its expiry anew when it ends.
      else if (isOver) next = Math.min(next, expiresMs);
    }
    this.#nextExpiryMs = next;
  }

  #dropRemoved(): void {
    const jobs = this.#parts.tables.table("jobs");
    for (const [sid, job] of this.#live) {
      if (jobs.get(sid)) continue;
      this.#live.delete(sid);
      job.cancel();
    }
  }

  /** Drops the results of the least recently used jobs while all together exceed the maximum; never those of the latest. */
  #evictResults(): void {
    const finished = [...this.#live.values()].filter(({ rows }) => rows !== undefined);
    let values = finished.reduce((sum, job) => sum + valuesOf(job), 0);
    for (const job of finished.slice(0, -1)) {
      if (values <= this.#maxValues) return;
      values -= valuesOf(job);
      job.dropResults();
    }
  }
}

function valuesOf({ rows }: Job): number {
  return rows === undefined ? 0 : rows.rows.length * Math.max(1, rows.fields.length);
}

function momentOf(timeMs: number | undefined): string | null {
  return timeMs === undefined || Math.abs(timeMs) > 8.64e15 ? null : new Date(timeMs).toISOString();
}
