/** What is made of the twin's tables and asked for by every request: made anew only after they have changed. */
import type { LogQueryTables } from "../world/tables.ts";

export function memoizeByVersion<Made>(
  make: (tables: LogQueryTables) => Made,
): (tables: LogQueryTables) => Made {
  /** What was made last, and of which state of the tables. */
  const last = new WeakMap<LogQueryTables, { version: number; made: Made }>();
  return (tables) => {
    const version = tables.stateVersion;
    const known = last.get(tables);
    if (known?.version === version) return known.made;
    const made = make(tables);
    last.set(tables, { version, made });
    return made;
  };
}
