/** Reads and runs every search. */
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { type Command, defineCommand } from "../spl/command.ts";
import { commands, findCommand } from "../spl/commands/registry.ts";
import { compilePipeline } from "../spl/compile-pipeline.ts";
import type { Knowledge } from "../spl/context/knowledge.ts";
import { defaultLimits } from "../spl/context/search-context.ts";
import { createSearchContext } from "../spl/create-context.ts";
import { parseSearch } from "../spl/parse-search.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import { withImplicitSearch } from "../spl/syntax/text.ts";
import { eventOf } from "./events.ts";
import { knowledgeOf } from "./knowledge.ts";
import { withOtherLookups } from "./other-lookups.ts";
import type { Detection, Repository } from "./repository.ts";

export interface Outcome {
  file: string;
  /** Commands of the search, those of subsearches too; each once. */
  commands: ReadonlySet<string>;
  /** Commands that are not served. */
  refused: ReadonlySet<string>;
  /** Why it cannot be read, with all commands it has taken for served. */
  unread: string | undefined;
  /** Why it does not run. */
  failed: string | undefined;
  /** Rows it found. */
  rows: number;
  ms: number;
}

interface Read {
  detection: Detection;
  commands: Set<string>;
  refused: Set<string>;
  pipeline: Pipeline | undefined;
  unread: string | undefined;
}

const nowMs = Date.UTC(2026, 0, 15, 12);
const deadlineMs = 20_000;
/** So many searches' fields make a table that is quickly planned for. */
const searchesPerStore = 50;
const served = new Set(commands.flatMap(({ name, aliases }) => [name, ...aliases]));

/** @param progress called after each search */
export async function measure(repository: Repository, progress: (done: number) => void): Promise<Outcome[]> {
  const reads: Read[] = [];
  const knowledge = knowledgeOf(repository, () => reads.flatMap(({ pipeline }) => pipeline ?? []));
  for (const detection of repository.detections) reads.push(read(detection, knowledge));
  const objects = objectNames(repository);
  const outcomes: Outcome[] = [];
  for (let from = 0; from < reads.length; from += searchesPerStore) {
    const some = reads.slice(from, from + searchesPerStore);
    const store = await openLogStore();
    try {
      await writeEvents(store, some, objects);
      for (const one of some) {
        outcomes.push(await outcomeOf(one, store, knowledge));
        progress(outcomes.length);
      }
    } finally {
      await store.close();
    }
  }
  return outcomes;
}

function read(detection: Detection, knowledge: Knowledge): Read {
  const names = new Set<string>();
  const refused = new Set<string>();
  const find = (name: string): Command => {
    const command = served.has(name) ? findCommand(name) : opaque(name);
    names.add(command.name);
    if (!served.has(name)) refused.add(name);
    return command;
  };
  try {
    const pipeline = parseSearch(withImplicitSearch(detection.search), knowledge, find);
    return { detection, commands: names, refused, pipeline, unread: undefined };
  } catch (error) {
    return { detection, commands: names, refused, pipeline: undefined, unread: messageOf(error) };
  }
}

/** Stands for a command that is not served, to read what comes after it. */
function opaque(name: string): Command {
  return defineCommand({
    name,
    kind: "streaming",
    parse: (reader) => void reader.rest(),
    compile: (_, input) => input,
  });
}

/** What stands before a period in the searches, as data models' objects do before their fields. */
function objectNames({ detections }: Repository): Set<string> {
  const before = (search: string) => [...search.matchAll(/\b([A-Z]\w+)\./g)].map(([, name = ""]) => name);
  return new Set(detections.flatMap(({ search }) => before(search)));
}

async function writeEvents(store: LogStore, reads: readonly Read[], objects: ReadonlySet<string>) {
  const sources = reads.flatMap(({ pipeline }, index) =>
    pipeline === undefined ? [] : [JSON.stringify(eventOf(pipeline, objects, nowMs / 1000 - index))],
  );
  // A value that does not fit what its field has been so far is left out with its event.
  await store.writeEach(sources.map((source, index) => ({ id: `e${index}`, index: "main", source })));
}

async function outcomeOf(one: Read, store: LogStore, knowledge: Knowledge): Promise<Outcome> {
  const { detection, pipeline, unread, commands, refused } = one;
  const base = { file: detection.file, commands, refused, unread };
  if (pipeline === undefined) return { ...base, failed: unread, rows: 0, ms: 0 };
  const [first] = refused;
  if (first !== undefined) return { ...base, failed: `'${first}' is not served`, rows: 0, ms: 0 };
  const start = performance.now();
  try {
    const rows = await run(pipeline, store, withOtherLookups(knowledge, pipeline));
    return { ...base, failed: undefined, rows, ms: performance.now() - start };
  } catch (error) {
    return { ...base, failed: messageOf(error), rows: 0, ms: performance.now() - start };
  }
}

async function run(pipeline: Pipeline, store: LogStore, knowledge: Knowledge): Promise<number> {
  const context = createSearchContext({
    store,
    knowledge,
    nowMs,
    timeZone: "UTC",
    range: { earliestMs: undefined, latestMs: undefined },
    limits: defaultLimits,
    sid: "1768478400.1",
    user: "admin",
    app: "search",
    signal: new AbortController().signal,
    deadlineMs,
    parse: (text) => parseSearch(text, knowledge),
    warn: () => {},
  });
  const relation = await compilePipeline(pipeline, context);
  return (await context.run(relation, context.limits.maxResultRows)).rows.length;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
}
