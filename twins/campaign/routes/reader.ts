/** Finds the database of campaigns, and keeps what was read of it as long as it is worth it. */
import { performance } from "node:perf_hooks";
import { reasonOf } from "@offhook/platform/base/reason";
import pg from "pg";
import { campaignFolder, findAddress, hasData, LEASE_NAME } from "../own-server.ts";
import type { Campaign } from "../records.ts";
import { type Tally, tallyOf } from "../report/tally.ts";
import { CampaignStore } from "../store.ts";
import { type Progress, readProgress } from "./queries.ts";

/** There is no database to read; `state` says whether there was one. */
export class NoDatabase extends Error {
  override name = "NoDatabase";
  readonly state: "none" | "asleep";

  constructor(state: "none" | "asleep", message: string) {
    super(message);
    this.state = state;
  }
}

/** The embedded server is kept running for so long after the last request. */
const LEASE_MS = 30_000;
const CONNECT_MS = 3_000;
/** Campaigns whose records stay counted. */
const MAX_TALLIES = 4;
/** The records of a campaign that runs are counted anew after so long, or after this many times what that took. */
const TALLY_MS = 1_500;
const TALLY_SHARE = 5;

interface Opening {
  url: string;
  opened: Promise<Opened>;
}

interface Opened {
  store: CampaignStore;
  /** Keeps the embedded server running. */
  lease: pg.Client | undefined;
}

interface KnownTally {
  reading: Promise<Tally>;
  /** By the monotonic clock; `Infinity`: the campaign has ended. */
  staleAtMs: number;
}

/** Reads campaigns for requests: connects with the first of them, and leaves when none has come for a while. */
export class CampaignReader {
  readonly #env: Record<string, string | undefined>;
  readonly #folder: string;
  #opening: Opening | undefined;
  #leaving: NodeJS.Timeout | undefined;
  readonly #tallies = new Map<string, KnownTally>();
  /** Of the last list's campaigns that have ended. */
  readonly #ended = new Map<string, Progress>();

  /** @param folder of the embedded server, which is used where the environment names no database */
  constructor(env: Record<string, string | undefined> = process.env, folder = campaignFolder(process.cwd())) {
    this.#env = env;
    this.#folder = folder;
  }

  /** @throws NoDatabase */
  async store(): Promise<CampaignStore> {
    const given = this.#env.CAMPAIGN_DATABASE_URL ?? "";
    const url = given === "" ? findAddress(this.#folder) : given;
    if (url === undefined) throw this.#missing();
    this.#leaveLater();
    if (this.#opening?.url !== url) {
      const before = this.#opening;
      this.#opening = { url, opened: open(url, given === "" ? "embedded" : "given") };
      void leave(before);
    }
    const own = this.#opening;
    try {
      return (await own.opened).store;
    } catch (error) {
      if (this.#opening === own) this.#opening = undefined;
      if (given === "") throw this.#missing();
      throw new NoDatabase("asleep", `CAMPAIGN_DATABASE_URL cannot be reached: ${reasonOf(error)}`);
    }
  }

  /** How far campaigns are. @throws NoDatabase */
  async progress(campaigns: readonly Campaign[]): Promise<(id: string) => Progress> {
    const unknown = campaigns.map(({ id }) => id).filter((id) => !this.#ended.has(id));
    const found = await readProgress(await this.store(), unknown);
    const all = new Map(campaigns.map(({ id }) => [id, this.#ended.get(id) ?? found(id)]));
    this.#ended.clear();
    for (const { id, endedAt } of campaigns) {
      const progress = all.get(id);
      if (endedAt !== null && progress) this.#ended.set(id, progress);
    }
    return (id) => all.get(id) ?? found(id);
  }

  /** The records of a campaign, counted; of one that runs they may be a little old. @throws NoDatabase */
  async tally(campaign: Campaign): Promise<Tally> {
    const known = this.#tallies.get(campaign.id);
    if (known && performance.now() < known.staleAtMs) return known.reading;
    const store = await this.store();
    const startedAtMs = performance.now();
    const reading = tallyOf(store.records(campaign.id));
    // While it is being read it is new.
    const tally: KnownTally = { reading, staleAtMs: Number.POSITIVE_INFINITY };
    this.#tallies.delete(campaign.id);
    this.#tallies.set(campaign.id, tally);
    const [oldest] = this.#tallies.keys();
    if (this.#tallies.size > MAX_TALLIES && oldest !== undefined) this.#tallies.delete(oldest);
    try {
      const counted = await reading;
      const tookMs = performance.now() - startedAtMs;
      // Calls that ran when a campaign was cancelled are still to come.
      if (campaign.endedAt === null)
        tally.staleAtMs = performance.now() + Math.max(TALLY_MS, TALLY_SHARE * tookMs);
      return counted;
    } catch (error) {
      this.#tallies.delete(campaign.id);
      throw error;
    }
  }

  /** Leaves the database. */
  async close(): Promise<void> {
    clearTimeout(this.#leaving);
    const opening = this.#opening;
    this.#opening = undefined;
    this.#tallies.clear();
    this.#ended.clear();
    await leave(opening);
  }

  #leaveLater(): void {
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => void this.close(), LEASE_MS).unref();
  }

  #missing(): NoDatabase {
    return hasData(this.#folder)
      ? new NoDatabase(
          "asleep",
          "the database of campaigns does not run: npm run campaign -- status starts it",
        )
      : new NoDatabase("none", "there are no campaigns: npm run campaign -- start begins one");
  }
}

async function open(url: string, server: "embedded" | "given"): Promise<Opened> {
  const lease = server === "embedded" ? await takeLease(url) : undefined;
  try {
    return { store: await CampaignStore.open(url), lease };
  } catch (error) {
    await lease?.end().catch(() => undefined);
    throw error;
  }
}

async function leave(opening: Opening | undefined): Promise<void> {
  const opened = await opening?.opened.catch(() => undefined);
  await opened?.lease?.end().catch(() => undefined);
  await opened?.store.close();
}

async function takeLease(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: LEASE_NAME,
    connectionTimeoutMillis: CONNECT_MS,
  });
  client.on("error", () => undefined); // The next request finds the address gone, or another.
  await client.connect();
  return client;
}
