/** Errors of a database that does not answer, as the control plane reports them. */

import { WorldUnavailable } from "@offhook/platform/world/world";
import pg from "pg";
import type { Queryable } from "./catalogue.ts";

/** The connection to the database was lost, or could not be opened. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "ConnectionLost";
  }
}

/** Source: "PostgreSQL Error Codes" of the manual. */
const lockNotAvailable = "55P03";
const deadlockDetected = "40P01";
const serializationFailure = "40001";
const queryCanceled = "57014";
const noSuchDatabase = "3D000";
const diskFull = "53100";
const outOfMemory = "53200";
/** Classes: connection exceptions, insufficient resources, system errors. */
const serverTroubles = ["08", "53", "58"];
/** Operator intervention: the server or session is ending, or the server does not accept connections yet. */
const operatorIntervention = "57P";

/** Whether a lock of another transaction caused the error. */
export function isLockConflict(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && [lockNotAvailable, deadlockDetected].includes(error.code ?? "");
}

/**
 * Converts an error about the state of the server, rather than about the request, to one that the control plane answers with 503;
 * returns any other error as it is.
 * @param outage why the server's process does not run, if it is known not to
 */
export function unavailableOr(error: unknown, outage: string | undefined): unknown {
  if (error instanceof ConnectionLost) return unreachable(error.cause, outage);
  if (!(error instanceof pg.DatabaseError)) {
    const isOfSystem = error instanceof Error && "syscall" in error;
    return isOfSystem ? unreachable(error, outage) : error;
  }
  const code = error.code ?? "";
  if (code === queryCanceled) {
    return new WorldUnavailable(
      "the database took too long and the statement was ended; ask for less, or wait until it has less to do",
      { cause: error },
    );
  }
  if (code === serializationFailure || isLockConflict(error)) {
    return new WorldUnavailable(
      "a transaction of the code under test holds a lock that this needs; end that transaction and ask again, or reset the twin",
      { cause: error },
    );
  }
  const isServers = code.startsWith(operatorIntervention) || serverTroubles.includes(code.slice(0, 2));
  return isServers ? unreachable(error, outage) : error;
}

function unreachable(cause: unknown, outage: string | undefined): WorldUnavailable {
  if (outage !== undefined) return new WorldUnavailable(outage, { cause });
  if (cause instanceof pg.DatabaseError && cause.code === noSuchDatabase) {
    return new WorldUnavailable(
      "the sandbox's database is gone from the server; reset the twin to make it anew",
      {
        cause,
      },
    );
  }
  if (cause instanceof pg.DatabaseError && cause.code === diskFull) {
    return new WorldUnavailable(
      "the disk that holds the database is full: make room on it, or remove rows or sandboxes, and try again",
      { cause },
    );
  }
  if (cause instanceof pg.DatabaseError && cause.code === outOfMemory) {
    return new WorldUnavailable("the database server has too little memory for this; ask for less at once", {
      cause,
    });
  }
  const reason = cause instanceof Error ? reasonOf(cause) : String(cause);
  return new WorldUnavailable(
    `the database server does not answer (${reason}); ask again in a moment, and if it stays so, see whether the server runs`,
    { cause },
  );
}

/** An error for several addresses of one host has no message of its own. */
function reasonOf(error: Error): string {
  if (!(error instanceof AggregateError)) return error.message;
  return error.errors.map((one) => (one instanceof Error ? one.message : String(one))).join("; ");
}

/** Transactions that an explanation names. */
const MAX_NAMED = 3;

/** Describes who has locked what in this database; `undefined` when no exclusive lock is held any more. */
export async function explainLocks(client: Queryable): Promise<string | undefined> {
  const { rows } = await client.query<{ tables: string; pid: number; application: string; age: string }>(
    `SELECT string_agg(DISTINCT l.relation::regclass::text, ', ') AS tables, a.pid,
            coalesce(nullif(a.application_name, ''), a.usename, '') AS application,
            round(extract(epoch FROM clock_timestamp() - a.xact_start))::text AS age
       FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.granted AND l.locktype = 'relation' AND l.pid <> pg_backend_pid()
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      GROUP BY a.pid, a.application_name, a.usename, a.xact_start ORDER BY a.xact_start LIMIT ${MAX_NAMED}`,
  );
  if (rows.length === 0) return undefined;
  return rows
    .map(
      ({ tables, pid, application, age }) =>
        `${tables} is locked by a transaction open for ${age} s (process ${pid}, ${application})`,
    )
    .join("; ");
}
