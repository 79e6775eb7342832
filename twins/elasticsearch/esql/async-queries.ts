/** Queries that go on when their request has been answered. */
import { randomBytes } from "node:crypto";
import { VendorError } from "../vendor/error.ts";

interface AsyncQuery<Result> {
  id: string;
  done: Promise<Result>;
  running: boolean;
  expiresAtMs: number;
  abort: AbortController;
}

/** How many are kept; the oldest goes first. */
const MAX_QUERIES = 100;

export class AsyncQueries<Result> {
  readonly #queries = new Map<string, AsyncQuery<Result>>();

  start(run: (signal: AbortSignal) => Promise<Result>, expiresAtMs: number): AsyncQuery<Result> {
    const abort = new AbortController();
    const id = randomBytes(42).toString("base64url");
    const done = run(abort.signal);
    const query: AsyncQuery<Result> = { id, done, running: true, expiresAtMs, abort };
    const end = () => {
      query.running = false;
    };
    done.then(end, end);
    this.#queries.set(id, query);
    const [oldest] = this.#queries.keys();
    if (this.#queries.size > MAX_QUERIES && oldest !== undefined) this.remove(oldest);
    return query;
  }

  /** @throws VendorError 404 when there is none, or it has expired */
  get(id: string, nowMs: number): AsyncQuery<Result> {
    const query = this.#queries.get(id);
    if (query && query.expiresAtMs > nowMs) return query;
    this.remove(id);
    throw new VendorError(404, { type: "resource_not_found_exception", reason: id });
  }

  /** Ends it if it is still running. */
  remove(id: string): void {
    this.#queries.get(id)?.abort.abort();
    this.#queries.delete(id);
  }
}

/** What a query gives within a time; `undefined` when it is not done by then. */
export async function within<Result>(query: AsyncQuery<Result>, waitMs: number): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.min(Math.max(waitMs, 0), 2_147_483_647));
  });
  try {
    return await Promise.race([query.done, late]);
  } finally {
    clearTimeout(timer);
  }
}
