/** The jobs of a twin: those of its rows. A row that goes ends its search; a row that came from a snapshot is searched again. */
import type { JobArtifact } from "../spl/context/knowledge.ts";
import { limit } from "../spl/relation/order.ts";
import { emptyRows, type Rows } from "../spl/relation/rows.ts";
import { rightsOfName } from "../world/access.ts";
import type { JobRow } from "../world/tables.ts";
import { Job, type JobParts } from "./job.ts";
import { DEFAULT_TTL_S, type JobRequest } from "./job-request.ts";
import { Slots } from "./slots.ts";

/** Searches that run at a time, and those that may wait for their turn. */
export const MOST_RUNNING = 10;
export const MOST_WAITING = 100;
/** Values of results that are kept in all. Beyond that the oldest finished jobs let go of theirs, and are searched again when need be. */
const MOST_VALUES = 4_000_000;

/** Too many searches wait already. */
export class TooManySearches extends Error {}

/** What results are said to need on a disk. */
export function diskUsageBytes({ result_count }: Pick<JobRow, "result_count">): number {
  return result_count * 256 + 8192;
}

const MEGABYTE = 1_048_576;

/** The results of somebody's searches are as large as they may be. */
export class DiskQuotaReached extends Error {
  readonly usedMb: number;
  constructor(usedMb: number) {
    super();
    this.usedMb = usedMb;
  }
}

export class JobBook {
  readonly #parts: JobParts;
  /** The one used last at the end. */
  readonly #live = new Map<string, Job>();
  readonly #mostValues: number;
  readonly #unwatch: () => void;
  #made = 0;
  /** Before that no job expires. */
  #expiresMs = Number.NEGATIVE_INFINITY;

  constructor(parts: Omit<JobParts, "slots" | "over">, { mostValues = MOST_VALUES } = {}) {
    this.#mostValues = mostValues;
    this.#parts = { ...parts, slots: new Slots(MOST_RUNNING), over: () => this.#makeRoom() };
    this.#unwatch = parts.tables.watch(({ table, change, row }) => {
      if (table !== "jobs") return;
      if (change === "reset") this.#expiresMs = Number.NEGATIVE_INFINITY;
      if (change === "reset" || change === "remove") this.#dropLost();
      else this.#expiresMs = Math.min(this.#expiresMs, Date.parse(String(row?.expires_at)));
    });
  }

  /** @throws SplError of phase `dispatch`, TooManySearches, DiskQuotaReached */
  start(request: JobRequest): Job {
    this.#expire();
    if (this.#parts.slots.waiting >= MOST_WAITING) throw new TooManySearches();
    this.#checkDisk(request);
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

  #checkDisk({ owner, diskQuotaMb = 0 }: JobRequest): void {
    if (diskQuotaMb === 0) return;
    const rows = this.#parts.tables.table("jobs").all();
    // So few cannot be too large.
    if (rows.length * diskUsageBytes({ result_count: 50_000 }) <= diskQuotaMb * MEGABYTE) return;
    const bytes = rows.reduce((sum, row) => sum + (row.owner === owner ? diskUsageBytes(row) : 0), 0);
    if (bytes > diskQuotaMb * MEGABYTE) throw new DiskQuotaReached(Math.round(bytes / MEGABYTE));
  }

  /** The job, unless it has expired. */
  find(sid: string): Job | undefined {
    this.#expire();
    const row = this.#parts.tables.table("jobs").get(sid);
    if (!row) return undefined;
    const job = this.#live.get(sid) ?? this.#again(row);
    job.attention.draw();
    // The one used last is the last to let go of its results.
    this.#live.delete(sid);
    this.#live.set(sid, job);
    // What was at work when a snapshot was taken goes on.
    if (!job.isOver) void job.done;
    return job;
  }

  /** The latest search that was the same, and was started no longer than so many seconds ago. */
  alike({ search, owner, app, given }: JobRequest, seconds: number): Job | undefined {
    const sinceMs = this.#parts.clock.now() - seconds * 1000;
    const same = (of: JobRow["request"]) =>
      ["earliest_time", "latest_time", "now"].every((name) => of[name] === given[name]);
    return this.list().find(({ row }) => {
      if (row === undefined || row.state === "FAILED" || Date.parse(row.created_at) < sinceMs) return false;
      return row.search === search && row.owner === owner && row.app === app && same(row.request);
    });
  }

  /** How many searches of somebody run. */
  runningOf(owner: string): number {
    return this.#parts.slots.runningOf(owner);
  }

  /** All jobs, the latest first. */
  list(): Job[] {
    this.#expire();
    const jobs = this.#parts.tables.table("jobs").all();
    return jobs.map((row) => this.#live.get(row.sid) ?? this.#again(row)).reverse();
  }

  /** Ends a job and forgets it. */
  remove(sid: string): void {
    this.#parts.tables.table("jobs").remove(sid);
  }

  /**
   * Rows of a finished job, or of one of a saved search (`owner:app:name`), the latest first.
   * @param user who wants them: others' jobs there are for administrators alone
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
    const context = await job.reopened(new AbortController().signal);
    return context.run(limit(job.events, maxCount), maxCount);
  }

  #mayRead(user: string, { request, row }: Job): boolean {
    if (request.owner === user) return true;
    const { capabilities, roles } = rightsOfName(this.#parts.tables, user);
    if (capabilities.has("admin_all_objects")) return true;
    return row?.readers.some((one) => one === "*" || one === user || roles.has(one)) ?? false;
  }

  /** Ends everything. */
  async stop(): Promise<void> {
    this.#unwatch();
    const jobs = [...this.#live.values()];
    this.#live.clear();
    for (const job of jobs) job.cancel();
    await Promise.allSettled(jobs.map(({ done }) => done));
  }

  /** A job that came from a snapshot has no results: they are found again when somebody asks for them. */
  #again(row: JobRow): Job {
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
    do sid = `${seconds}.${++this.#made}`;
    while (this.#parts.tables.table("jobs").get(sid));
    return sid;
  }

  /** Jobs whose time is over are forgotten, and those that nobody asks for; one that is at work is not over. */
  #expire(): void {
    const nowMs = this.#parts.clock.now();
    for (const [sid, job] of this.#live) if (job.attention.isLost) this.remove(sid);
    if (nowMs < this.#expiresMs) return;
    let next = Number.POSITIVE_INFINITY;
    for (const { sid, state, expires_at } of this.#parts.tables.table("jobs").all()) {
      const expiresMs = Date.parse(expires_at);
      const isOver = state === "DONE" || state === "FAILED";
      if (isOver && expiresMs <= nowMs) this.remove(sid);
      // One that is at work says anew when it is over.
      else if (isOver) next = Math.min(next, expiresMs);
    }
    this.#expiresMs = next;
  }

  #dropLost(): void {
    const jobs = this.#parts.tables.table("jobs");
    for (const [sid, job] of this.#live) {
      if (jobs.get(sid)) continue;
      this.#live.delete(sid);
      job.cancel();
    }
  }

  /** Has the oldest finished jobs let go of their results when all together are too much; never the latest. */
  #makeRoom(): void {
    const finished = [...this.#live.values()].filter(({ rows }) => rows !== undefined);
    let values = finished.reduce((sum, job) => sum + valuesOf(job), 0);
    for (const job of finished.slice(0, -1)) {
      if (values <= this.#mostValues) return;
      values -= valuesOf(job);
      job.forget();
    }
  }
}

function valuesOf({ rows }: Job): number {
  return rows === undefined ? 0 : rows.rows.length * Math.max(1, rows.fields.length);
}

function momentOf(timeMs: number | undefined): string | null {
  return timeMs === undefined || Math.abs(timeMs) > 8.64e15 ? null : new Date(timeMs).toISOString();
}
