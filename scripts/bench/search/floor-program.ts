/** The floor: plain DuckDB, asked in SQL written by hand, in a process of its own. */
import { answerQuestions } from "../child.ts";
import { questionsOf } from "./asked.ts";
import { extend, loadFile, type OpenDatabase, openDatabase } from "./duckdb.ts";
import type { FloorQuestions } from "./questions.ts";

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
