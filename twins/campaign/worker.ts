/** A worker: places calls of campaigns, so many at a time, until it is stopped or its campaign is complete. */

import { wallTime } from "@offhook/platform/base/clock";
import { outlastOutage } from "./database.ts";
import { seedOf } from "./keys.ts";
import type { CallOrder, PlacedCall } from "./place-call.ts";
import { Presence } from "./presence.ts";
import { CallQueue, type ClaimedCall, type JudgedCall } from "./queue.ts";
import type { CallRecord, Campaign } from "./records.ts";
import { CampaignStore } from "./store.ts";

export type WorkerEvent =
  /** A verdict was written, or was there already. */
  | { type: "judged"; record: CallRecord }
  /** An attempt failed; the call is tried again, or counts as an error. */
  | { type: "given-back"; call: ClaimedCall; reason: string }
  /** Calls of workers that are gone begin again. */
  | { type: "returned"; calls: number }
  /** The database does not answer; the worker waits for it. */
  | { type: "waiting"; reason: string };

export interface WorkerOptions {
  databaseUrl: string;
  /** As in the records of its calls. */
  name: string;
  /** Calls at a time. */
  concurrency: number;
  /**
   * Places a call in a slot, a number below `concurrency` that no other call uses meanwhile.
   * @throws what kept the call from being judged
   */
  place(order: CallOrder, slot: number): Promise<PlacedCall>;
  /** The campaign to work for until it is complete or cancelled; default: every one that runs, until stopped. */
  campaign?: string | undefined;
  /** How long it waits for a database that does not answer; default 10 minutes. */
  patienceMs?: number;
  /** How long workers may take to come back after an outage before a missing one counts as gone; default 10 s. */
  graceMs?: number;
  onEvent?(event: WorkerEvent): void;
}

/** Between two looks for calls when there were too few. */
const IDLE_MS = 500;
const GRACE_MS = 10_000;
/** Looks for lost and failed calls in a grace period. */
const LOOKS_PER_GRACE = 3;
const PATIENCE_MS = 600_000;

export class Worker {
  /** Resolves when it has ended by itself or was stopped. Rejects with what it could not survive. */
  readonly ended: Promise<void>;
  readonly #options: WorkerOptions;
  readonly #store: CampaignStore;
  readonly #queue: CallQueue;
  readonly #presence: Presence;
  readonly #stopping = new AbortController();
  readonly #freeSlots: number[];
  /** Texts of scenarios, by campaign and name. */
  readonly #texts = new Map<string, Promise<string>>();
  #calls = new Set<Promise<void>>();
  #judged: JudgedCall[] = [];
  #writing: Promise<void> | undefined;
  #failure: unknown;
  #wake: () => void = () => undefined;
  #upkeepAtMs = 0;

  /** @throws when the database cannot be reached, CampaignError when the campaign does not exist */
  static async start(options: WorkerOptions): Promise<Worker> {
    const store = await CampaignStore.open(options.databaseUrl);
    try {
      if (options.campaign !== undefined) await store.readCampaign(options.campaign);
      const queue = await CallQueue.open(store, ({ message }) =>
        options.onEvent?.({ type: "waiting", reason: message }),
      );
      const presence = await Presence.open(store.pool, options.databaseUrl);
      return new Worker(options, store, queue, presence);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  private constructor(options: WorkerOptions, store: CampaignStore, queue: CallQueue, presence: Presence) {
    this.#options = options;
    this.#store = store;
    this.#queue = queue;
    this.#presence = presence;
    this.#freeSlots = Array.from({ length: options.concurrency }, (_, slot) => slot);
    this.ended = this.#run();
  }

  /** Takes no further call; the calls that run are finished and written. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.ended;
  }

  async #run(): Promise<void> {
    try {
      while (!this.#stopping.signal.aborted && this.#failure === undefined) {
        if ((await this.#outlast(() => this.#turn())) === "complete") break;
      }
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#failure ??= error;
    }
    await Promise.all(this.#calls);
    await this.#writing;
    await this.#presence.close();
    await this.#queue.close();
    await this.#store.close();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Fills the free slots, or waits for what may change that. */
  async #turn(): Promise<"complete" | undefined> {
    await this.#keepUp();
    // While verdicts wait to be written, as on a slow database, they are not joined by more.
    const free = this.#judged.length < this.#options.concurrency ? this.#freeSlots.length : 0;
    const campaigns = free === 0 ? [] : await this.#campaigns();
    if (this.#options.campaign !== undefined && free > 0 && campaigns.length === 0) return "complete";
    let begun = 0;
    for (const campaign of campaigns) {
      if (begun === free) break;
      const claims = await this.#queue.claim(campaign, this.#presence.number, free - begun);
      for (const claim of claims) this.#begin(claim);
      begun += claims.length;
    }
    if (begun === free && free > 0) return undefined;
    if (this.#calls.size === 0) {
      for (const campaign of campaigns) await this.#queue.endIfComplete(campaign);
    }
    await this.#change(IDLE_MS);
    return undefined;
  }

  async #campaigns(): Promise<Campaign[]> {
    const running = await this.#store.listRunning();
    const { campaign } = this.#options;
    return campaign === undefined ? running : running.filter(({ id }) => id === campaign);
  }

  async #keepUp(): Promise<void> {
    const { graceMs = GRACE_MS } = this.#options;
    if (performance.now() < this.#upkeepAtMs || this.#presence.ageMs < graceMs) return;
    this.#upkeepAtMs = performance.now() + graceMs / LOOKS_PER_GRACE;
    const calls = await this.#queue.returnLost();
    if (calls > 0) this.#options.onEvent?.({ type: "returned", calls });
    await this.#queue.judgeFailed(this.#options.name);
  }

  #begin(claim: ClaimedCall): void {
    const slot = this.#freeSlots.pop();
    if (slot === undefined) throw new Error("more calls were claimed than there are slots");
    const call = this.#handle(claim, slot)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#calls.delete(call);
        this.#wake();
      });
    this.#calls.add(call);
  }

  async #handle(claim: ClaimedCall, slot: number): Promise<void> {
    const startedAt = new Date(wallTime()).toISOString();
    let placed: PlacedCall;
    try {
      placed = await this.#options.place(await this.#orderOf(claim), slot);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      await this.#outlastStop(() => this.#queue.giveBack(claim, reason));
      this.#options.onEvent?.({ type: "given-back", call: claim, reason });
      return;
    } finally {
      this.#freeSlots.push(slot);
      this.#wake();
    }
    const { keepable, ...judged } = placed;
    const record: CallRecord = {
      ...claim.key,
      ...judged,
      startedAt,
      endedAt: new Date(wallTime()).toISOString(),
      worker: this.#options.name,
      attempts: claim.attempt,
    };
    this.#judged.push({ claim, record, keepable });
    await this.#write();
  }

  async #orderOf({ campaign, key, attempt }: ClaimedCall): Promise<CallOrder> {
    const variant = campaign.spec.variants.find(({ name }) => name === key.variant);
    if (variant === undefined) throw new Error(`campaign ${campaign.id} has no variant ${key.variant}`);
    const seed = seedOf(campaign.spec.seed, key);
    return {
      campaign,
      key,
      attempt,
      variant,
      seed,
      scenarioText: await this.#textOf(campaign.id, key.scenario),
    };
  }

  #textOf(campaign: string, scenario: string): Promise<string> {
    const id = `${campaign}/${scenario}`;
    const known = this.#texts.get(id);
    if (known !== undefined) return known;
    const text = this.#outlast(() => this.#store.scenarioText(campaign, scenario));
    this.#texts.set(id, text);
    text.catch(() => this.#texts.delete(id));
    return text;
  }

  /** Group commit: what is judged while a transaction runs is written together in the next one. */
  async #write(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    const batch = this.#judged;
    if (batch.length === 0) return;
    this.#judged = [];
    this.#writing = this.#writeBatch(batch).finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async #writeBatch(batch: readonly JudgedCall[]): Promise<void> {
    try {
      await this.#outlastStop(() => this.#queue.finish(batch));
    } catch (error) {
      // One of them may be what the database refuses.
      if (batch.length > 1) {
        for (const call of batch) await this.#writeBatch([call]);
        return;
      }
      const reason = `the verdict could not be written: ${error instanceof Error ? error.message : error}`;
      for (const { claim } of batch) {
        await this.#outlastStop(() => this.#queue.giveBack(claim, reason));
        this.#options.onEvent?.({ type: "given-back", call: claim, reason });
      }
      return;
    }
    for (const { record } of batch) this.#options.onEvent?.({ type: "judged", record });
  }

  /** Waits until a call ends, or for a time. */
  async #change(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => undefined;
  }

  #outlast<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#outlastUntil(work, this.#stopping.signal);
  }

  /** For what must be written even while it stops. */
  #outlastStop<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#outlastUntil(work, undefined);
  }

  async #outlastUntil<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    const giveUp = new AbortController();
    const patience = setTimeout(() => giveUp.abort(), this.#options.patienceMs ?? PATIENCE_MS);
    const end = () => giveUp.abort();
    signal?.addEventListener("abort", end);
    try {
      const onWait = (reason: string) => this.#options.onEvent?.({ type: "waiting", reason });
      return await outlastOutage(work, { signal: giveUp.signal, onWait });
    } finally {
      clearTimeout(patience);
      signal?.removeEventListener("abort", end);
    }
  }
}
