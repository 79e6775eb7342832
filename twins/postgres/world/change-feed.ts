/** Receives the notices of `watch.sql`: each committed change, in commit order, of any client. */
import pg from "pg";

export interface RowsChanged {
  schema: string;
  table: string;
  change: "insert" | "update" | "delete";
  /** Type names as in `pg_type`; `key`: of the primary key. */
  columns: {
    name: string;
    type: string;
    elementType: string | null;
    delimiter: string | null;
    key: boolean;
  }[];
  /** Values as texts; at most a thousand rows. */
  rows: (string | null)[][];
  total: number;
}

export type Notice =
  | RowsChanged
  | { schema: string; table: string; change: "truncate" }
  | { change: "definition"; command: string }
  | { change: "load"; tables: string[] };

/** Stands for all tables, in a change whose tables are unknown. */
export const everyTable = "*";

export interface ChangeFeed {
  /** Resolves when every change committed before the call has been delivered. */
  catchUp(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a connection that listens.
 * @param deliver is called with one notice after another
 * @param lost is called when the server ends the connection; changes may have been missed
 */
export async function openChangeFeed(
  connection: pg.ClientConfig,
  deliver: (notice: Notice) => void,
  lost: (error: Error | undefined) => void,
): Promise<ChangeFeed> {
  const client = new pg.Client(connection);
  let closing = false;
  let open = false;
  let reason: Error | undefined;
  const join = joinPieces();
  client.on("error", (error) => {
    reason = error;
  });
  client.on("end", () => {
    if (open && !closing) lost(reason);
  });
  client.on("notification", ({ payload }) => {
    const notice = join(payload ?? "");
    if (notice) deliver(notice);
  });
  try {
    await client.connect();
    await client.query("LISTEN offhook_watch");
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
  open = true;
  return {
    // The server sends pending notifications before it answers the session's next statement.
    catchUp: coalesce(async () => {
      await client.query("SELECT");
    }),
    close: async () => {
      closing = true;
      await client.end();
    },
  };
}

/** Coalesces calls: runs are serialized, and all calls during a run share the next run. */
function coalesce(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= current
      .catch(() => {}) // The callers of that run get the error.
      .then(() => {
        next = undefined;
        return work();
      });
    current = next;
    return next;
  };
}

/** Joins the pieces of a message. They arrive in a row: notifications of one transaction are not interleaved with others. */
function joinPieces(): (payload: string) => Notice | undefined {
  let pieces: string[] = [];
  return (payload) => {
    const [number = "", piece = "", count = ""] = payload.split(" ", 3);
    if (piece === "1") pieces = [];
    pieces.push(payload.slice(number.length + piece.length + count.length + 3));
    if (piece !== count) return undefined;
    const notice: Notice = JSON.parse(pieces.join(""));
    return notice;
  };
}
