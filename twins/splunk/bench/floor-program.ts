/** The floor: plain DuckDB, asked in SQL written by hand, in a process of its own. */

import { extend, loadFile, type OpenDatabase, openDatabase } from "@offhook/log-store/bench/duckdb";
import { answerQuestions } from "@offhook/platform/testing/bench/child";
import type { SplFloorQuestions } from "./programs.ts";

let opened: OpenDatabase | undefined;

async function prepared<Result>(
  database: string,
  work: (ask: OpenDatabase["ask"]) => Promise<Result>,
): Promise<{ result: Result; ms: number }> {
  const { ask, close } = await openDatabase(database, "load");
  const beganAt = performance.now();
  const result = await work(ask);
  const ms = performance.now() - beganAt;
  close();
  return { result, ms };
}

answerQuestions<SplFloorQuestions>({
  load: async ({ file, format, database }) => {
    const { result: rows, ms } = await prepared(database, (ask) => loadFile(ask, file, format));
    return { rows, ms };
  },

  extend: async ({ database }) => {
    const { ms } = await prepared(database, extend);
    return { ms };
  },

  open: async ({ database }) => {
    opened = await openDatabase(database, "ask");
    return {};
  },

  ask: async ({ statement, values }) => {
    if (!opened) throw new Error("no database is open");
    const beganAt = performance.now();
    const rows = await opened.ask(statement, [...values]);
    return { rows, ms: performance.now() - beganAt };
  },
});
