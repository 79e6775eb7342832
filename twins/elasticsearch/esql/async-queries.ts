/** ES|QL queries that outlive their request. */
import { randomBytes } from "node:crypto";
import { VendorError } from "../vendor/error.ts";
import type { EsqlBody } from "./request.ts";
import type { EsqlResult } from "./run.ts";

/** A query as it was asked, with what it gave. */
export interface AnsweredQuery {
  body: EsqlBody;
  result: EsqlResult;
}

interface AsyncQuery {
  id: string;
  done: Promise<AnsweredQuery>;
  running: boolean;
  expiresAtMs: number;
  abort: AbortController;
}

/** The oldest query is dropped first. */
const MAX_QUERIES = 100;

export class AsyncQueries {
  readonly #queries = new Map<string, AsyncQuery>();

  start(run: (signal: AbortSignal) => Promise<AnsweredQuery>, expiresAtMs: number): AsyncQuery {
    const abort = new AbortController();
    const id = randomBytes(42).toString("base64url");
    const done = run(abort.signal);
    const query: AsyncQuery = { id, done, running: true, expiresAtMs, abort };
    const end = () => {
      query.running = false;
    };
    done.then(end, end);
    this.#queries.set(id, query);
    const [oldest] = this.#queries.keys();
    if (this.#queries.size > MAX_QUERIES && oldest !== undefined) this.remove(oldest);
    return query;
  }

  /** @throws VendorError 404 for an unknown or expired query */
  get(id: string, nowMs: number): AsyncQuery {
    const query = this.#queries.get(id);
    if (query && query.expiresAtMs > nowMs) return query;
    this.remove(id);
    throw new VendorError(404, { type: "resource_not_found_exception", reason: id });
  }

  /** Forgets the query, and aborts it if it still runs. */
  remove(id: string): void {
    this.#queries.get(id)?.abort.abort();
    this.#queries.delete(id);
  }
}

/** Waits for a query; `undefined` when it is not done in time. */
export async function waitForResult(query: AsyncQuery, waitMs: number): Promise<AnsweredQuery | undefined> {
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
