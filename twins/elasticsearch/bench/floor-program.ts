/** The floor: plain DuckDB, asked in SQL written by hand, in a process of its own. */

import { extend, loadFile, type OpenDatabase, openDatabase } from "@offhook/log-store/bench/duckdb";
import type { FloorQuestions } from "@offhook/log-store/bench/questions";
import { answerQuestions } from "@offhook/platform/testing/bench/child";
import { questionsOf } from "./asked.ts";

let opened: OpenDatabase | undefined;

answerQuestions<FloorQuestions>({
  load: async ({ file, format, database }) => {
    const { ask, close } = await openDatabase(database, "load");
    const beganAt = performance.now();
    const rows = await loadFile(ask, file, format);
    const ms = performance.now() - beganAt;
    close();
    return { rows, ms };
  },

  extend: async ({ database }) => {
    const { ask, close } = await openDatabase(database, "load");
    const beganAt = performance.now();
    await extend(ask);
    const ms = performance.now() - beganAt;
    close();
    return { ms };
  },

  open: async ({ database }) => {
    opened = await openDatabase(database, "ask");
    return {};
  },

  ask: async ({ question, variant, facts }) => {
    const asked = questionsOf(facts).find(({ name }) => name === question)?.variants[variant];
    if (!asked || !opened) throw new Error(`no variant ${variant} of "${question}" can be asked`);
    const beganAt = performance.now();
    const answer = await asked.byHand(opened.ask);
    return { answer, ms: performance.now() - beganAt };
  },
});
