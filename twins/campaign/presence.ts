/**
 * Shows which workers live: each holds an advisory lock of the database on a connection of its own, and the server
 * releases it when that connection ends, however the worker ended. A proxy that shares connections between clients
 * (PgBouncer in transaction mode) would hide that.
 */
import pg from "pg";
import { connectionOptions, outlastOutage, type Query } from "./database.ts";

/** First key of the advisory locks; the second is the worker's number. */
const LOCK_CLASS = 0x0ff_ca11;
/** A worker on a machine that lost its power or network is taken as gone after idle + interval × count = 20 s. */
const KEEPALIVE = ["tcp_keepalives_idle=5", "tcp_keepalives_interval=5", "tcp_keepalives_count=3"];

export class Presence {
  /** The worker's number; it stays the same after a reconnection. */
  readonly number: number;
  readonly #url: string;
  readonly #closing = new AbortController();
  #client: pg.Client;
  #sinceMs = performance.now();
  #reconnecting: Promise<void> = Promise.resolve();

  /** Shows a new worker. @throws when the database cannot be reached */
  static async open(pool: pg.Pool, url: string): Promise<Presence> {
    const { rows } = await pool.query<{ number: number }>(
      "SELECT nextval('campaign.worker_numbers')::int AS number",
    );
    const number = rows[0]?.number ?? 0;
    return new Presence(url, number, await connect(url, number));
  }

  private constructor(url: string, number: number, client: pg.Client) {
    this.#url = url;
    this.number = number;
    this.#client = client;
    this.#watch(client);
  }

  /**
   * How long it has been shown without interruption. Right after an outage of the database this is short for every
   * worker, and one that is not back yet is not gone.
   */
  get ageMs(): number {
    return performance.now() - this.#sinceMs;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#reconnecting;
    await this.#client.end().catch(() => undefined);
  }

  #watch(client: pg.Client): void {
    client.once("end", () => {
      this.#sinceMs = Number.POSITIVE_INFINITY;
      if (!this.#closing.signal.aborted) this.#reconnecting = this.#reconnect();
    });
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing;
    try {
      this.#client = await outlastOutage(() => connect(this.#url, this.number), { signal });
      this.#sinceMs = performance.now();
      this.#watch(this.#client);
    } catch {} // It closes; or it is refused, and so is the worker's next statement, which says why.
  }
}

/** Whether a worker is gone. If so, it stays so, and nobody else finds it gone, until the transaction ends. */
export async function lockIfGone(client: Query, worker: number): Promise<boolean> {
  const { rows } = await client.query<{ gone: boolean }>("SELECT pg_try_advisory_xact_lock($1, $2) AS gone", [
    LOCK_CLASS,
    worker,
  ]);
  return rows[0]?.gone === true;
}

async function connect(url: string, number: number): Promise<pg.Client> {
  const options = KEEPALIVE.map((setting) => `-c ${setting}`).join(" ");
  const client = new pg.Client({ ...connectionOptions(url, "offhook campaign worker"), options });
  client.on("error", () => undefined); // `end` follows.
  try {
    await client.connect();
    // Waits for the connection before it, which the server may not have missed yet.
    await client.query("SELECT pg_advisory_lock($1, $2)", [LOCK_CLASS, number]);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}
