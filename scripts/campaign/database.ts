/**
 * The database of campaigns: `CAMPAIGN_DATABASE_URL`, else the embedded server with its data in `.offhook/campaigns`
 * (root's in the system's temporary folder).
 *
 * All campaign programs of this project on a machine share the embedded server. A keeper process runs it, so that it
 * outlives each of them: the first program that needs the server starts the keeper, and the keeper stops the server when
 * no program is connected any more. Programs that find no server start a keeper; of several keepers one gets the data,
 * since Postgres runs once on it, and the others end.
 */
import { spawn } from "node:child_process";
import { lstatSync, mkdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { campaignFolder, findAddress, LEASE_NAME } from "@offhook/campaign/own-server";
import { requireOwnFolder } from "@offhook/platform/server/locator";
import pg from "pg";
import { PROJECT } from "../shared/folders.ts";

/** A share in the database. */
export interface DatabaseLease {
  url: string;
  release(): Promise<void>;
}

/** The database cannot be had; the message says why and what to do. */
export class DatabaseError extends Error {
  override name = "DatabaseError";
}

const KEEPER = fileURLToPath(new URL("./keep-database.ts", import.meta.url));
const START = fileURLToPath(new URL("../shared/start.cjs", import.meta.url));
const START_MS = 60_000;
const LOOK_MS = 100;
/** A keeper that says nothing for this long is taken as failed, and another is started. */
const KEEPER_MS = 10_000;
const CONNECT_MS = 5_000;

/**
 * @param folder where the embedded server keeps its data
 * @throws DatabaseError
 */
export async function leaseDatabase(
  env: Record<string, string | undefined>,
  folder = campaignFolder(PROJECT),
): Promise<DatabaseLease> {
  const given = env.CAMPAIGN_DATABASE_URL ?? "";
  if (given !== "") return { url: given, release: async () => undefined };
  await requireOwnFolder(PROJECT);
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const { uid } = lstatSync(folder);
  if (process.getuid !== undefined && uid !== process.getuid()) {
    throw new DatabaseError(`${folder} is another user's: remove it, or set CAMPAIGN_DATABASE_URL`);
  }
  return new EmbeddedLease(folder).open();
}

class EmbeddedLease implements DatabaseLease {
  url = "";
  readonly #folder: string;
  #client: pg.Client | undefined;
  #released = false;
  #opening: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async open(): Promise<DatabaseLease> {
    await this.#connect();
    return this;
  }

  async release(): Promise<void> {
    this.#released = true;
    await this.#opening.catch(() => undefined);
    await this.#client?.end().catch(() => undefined);
  }

  /** Connects to the server, and starts a keeper when there is none. @throws DatabaseError */
  async #connect(): Promise<void> {
    const giveUpAtMs = performance.now() + START_MS;
    let keeper: Keeper | undefined;
    for (;;) {
      const client = await this.#tryConnect();
      if (client !== undefined) {
        this.#watch(client);
        return;
      }
      if (keeper === undefined || keeper.ageMs() > KEEPER_MS) keeper = startKeeper(this.#folder);
      if (keeper.hasFailed() || performance.now() > giveUpAtMs) {
        throw new DatabaseError(
          `the database of campaigns in ${this.#folder} did not start: ${keeper.lastWords()}\nSet CAMPAIGN_DATABASE_URL to use another.`,
        );
      }
      await pause(LOOK_MS);
    }
  }

  async #tryConnect(): Promise<pg.Client | undefined> {
    const url = findAddress(this.#folder);
    if (url === undefined) return undefined;
    const client = new pg.Client({
      connectionString: url,
      application_name: LEASE_NAME,
      connectionTimeoutMillis: CONNECT_MS,
    });
    client.on("error", () => undefined); // `end` follows.
    try {
      await client.connect();
      this.url = url;
      return client;
    } catch {
      await client.end().catch(() => undefined);
      return undefined;
    }
  }

  #watch(client: pg.Client): void {
    this.#client = client;
    client.once("end", () => {
      if (this.#released) return;
      // The keeper starts a server that was killed again; whoever finds the keeper dead starts another.
      this.#opening = this.#connect();
      this.#opening.catch((error: Error) => console.error(error.message));
    });
  }
}

interface Keeper {
  ageMs(): number;
  /** Whether it ended, other than because another keeper has the data. */
  hasFailed(): boolean;
  lastWords(): string;
}

/** In a session of its own, since it is nobody's: Ctrl-C and the end of the program that started it do not reach it. */
function startKeeper(folder: string): Keeper {
  const startedAtMs = performance.now();
  let words = "";
  const child = spawn(process.execPath, [START, KEEPER, folder], {
    cwd: PROJECT,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    words = (words + text).slice(-2_000);
  });
  child.on("error", ({ message }) => {
    words = message;
  });
  child.unref();
  if ("unref" in child.stderr && typeof child.stderr.unref === "function") child.stderr.unref();
  return {
    ageMs: () => performance.now() - startedAtMs,
    hasFailed: () => child.exitCode !== null && child.exitCode !== 0 && !words.includes("lock file"),
    lastWords: () => words.trim() || "it said nothing",
  };
}
