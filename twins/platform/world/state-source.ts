/** A whole state that is read and written in batches of rows, so that it may be larger than memory. */
import { createHash, type Hash } from "node:crypto";
import { JsonStream } from "./json-stream.ts";
import { Spool } from "./spool.ts";
import {
  type HeldState,
  type Row,
  type StateSource,
  type Tables,
  type TakeRows,
  type World,
  WorldRefusal,
} from "./world.ts";

/** Limits of a batch of rows. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_ROWS = 1024;

/** Limit of the JSON text of tables that are loaded into memory: all tables except events. */
const MAX_COLLECTED_BYTES = 512 * 1024 * 1024;

/** A table's array in a JSON text: the offsets of its first byte and of the byte after its last. */
export interface TableSpan {
  start: number;
  end: number;
}

/** A state as JSON text: arrays of rows. */
export class SpooledState implements StateSource {
  readonly #spool: Spool;
  readonly #spans: ReadonlyMap<string, TableSpan>;

  constructor(spool: Spool, spans: ReadonlyMap<string, TableSpan>) {
    this.#spool = spool;
    this.#spans = spans;
  }

  get tables(): readonly string[] {
    return [...this.#spans.keys()];
  }

  /** @throws MalformedJson */
  async *rows(table: string): AsyncGenerator<readonly Row[]> {
    const span = this.#spans.get(table);
    if (!span) return;
    const json = new JsonStream(this.#spool.read(span.start, span.end), span.start);
    let rows: Row[] = [];
    let from = span.start;
    for await (const _ of json.elements()) {
      // The reader of the body has checked that every element is an object.
      rows.push((await json.value()) as Row);
      if (rows.length < BATCH_ROWS && json.position - from < BATCH_BYTES) continue;
      yield rows;
      rows = [];
      from = json.position;
    }
    if (rows.length > 0) yield rows;
  }

  /** Total bytes of the tables' text. */
  bytesOf(tables: readonly string[]): number {
    return tables.reduce((sum, table) => {
      const span = this.#spans.get(table);
      return sum + (span ? span.end - span.start : 0);
    }, 0);
  }
}

/** Tables in memory as a source. */
export function sourceOf(tables: Tables): StateSource {
  return {
    tables: Object.keys(tables),
    async *rows(table) {
      const rows = Object.hasOwn(tables, table) ? (tables[table] ?? []) : [];
      for (let from = 0; from < rows.length; from += BATCH_ROWS) yield rows.slice(from, from + BATCH_ROWS);
    },
  };
}

/** A view of a source without some of its tables. */
export function withoutTables(source: StateSource, left: ReadonlySet<string>): StateSource {
  return {
    tables: source.tables.filter((table) => !left.has(table)),
    rows: (table) => source.rows(table),
  };
}

/** Reads tables into memory. @throws WorldRefusal when they are too large */
export async function collectTables(source: StateSource, names: readonly string[]): Promise<Tables> {
  if (source instanceof SpooledState && source.bytesOf(names) > MAX_COLLECTED_BYTES) {
    const rule = `these tables have at most ${MAX_COLLECTED_BYTES} bytes together`;
    throw new WorldRefusal(names.map((table) => ({ table, rule })));
  }
  const entries: [string, Row[]][] = [];
  for (const name of names) {
    const all: Row[] = [];
    for await (const rows of source.rows(name)) for (const row of rows) all.push(row);
    entries.push([name, all]);
  }
  return Object.fromEntries(entries);
}

/** Replaces a world's whole state. @throws WorldRefusal, and then nothing is changed; MalformedJson */
export async function loadState(world: World, source: StateSource): Promise<void> {
  if (world.loadFrom) return world.loadFrom(source);
  return world.load(await collectTables(source, source.tables));
}

/** Dumps a world's whole state in batches. */
export async function dumpState(world: World, take: TakeRows): Promise<void> {
  if (world.dumpTo) return world.dumpTo(take);
  for (const [table, rows] of Object.entries(await world.dump())) {
    await take(table, []);
    for (let from = 0; from < rows.length; from += BATCH_ROWS) {
      await take(table, rows.slice(from, from + BATCH_ROWS));
    }
  }
}

/** Keeps a world's state, so that it can come back. @param limitBytes of what is written out for it @throws SpoolFull, WorldUnavailable */
export async function holdState(world: World, limitBytes: number): Promise<HeldState> {
  if (world.hold) return world.hold(limitBytes);
  const spool = new Spool(limitBytes);
  try {
    const { state } = await writeState(world, spool);
    return { restore: () => loadState(world, state), release: () => spool.clear() };
  } catch (error) {
    await spool.clear();
    throw error;
  }
}

/** How often a dump is attempted while the state keeps changing. */
const DUMP_ATTEMPTS = 5;

export interface WrittenState {
  /** A lower bound, if the state kept changing during every attempt. */
  stateVersion: number;
  /** Where each table is in the spool. */
  state: SpooledState;
  /** SHA-256 in hexadecimal, independent of the order of tables and of the members of rows. */
  contentHash: string | undefined;
}

/** Writes a world's tables as a JSON object at the end of a spool. @throws SpoolFull, WorldRefusal, WorldUnavailable */
export async function writeState(
  world: World,
  spool: Spool,
  form: "hashed" | "plain" = "plain",
): Promise<WrittenState> {
  for (let attempt = 1; ; attempt++) {
    const stateVersion = world.stateVersion;
    const writer = new StateWriter(spool, form === "hashed" ? new ContentHash() : undefined);
    await dumpState(world, (table, rows) => writer.take(table, rows));
    const spans = await writer.end();
    if (attempt >= DUMP_ATTEMPTS || world.stateVersion === stateVersion) {
      return { stateVersion, state: new SpooledState(spool, spans), contentHash: writer.hash?.digest() };
    }
    await spool.clear();
  }
}

class StateWriter {
  readonly hash: ContentHash | undefined;
  readonly #spool: Spool;
  readonly #spans = new Map<string, TableSpan>();
  #table: string | undefined;
  #isFirst = true;

  constructor(spool: Spool, hash: ContentHash | undefined) {
    this.#spool = spool;
    this.hash = hash;
  }

  async take(table: string, rows: readonly Row[]): Promise<void> {
    let text = "";
    if (table !== this.#table) {
      await this.#endTable();
      const separator = this.#spans.size === 0 ? "{" : ",";
      await this.#spool.write(Buffer.from(`${separator}${JSON.stringify(table)}:`));
      this.#spans.set(table, { start: this.#spool.bytes, end: 0 });
      this.#table = table;
      this.#isFirst = true;
      text = "[";
    }
    for (const row of rows) {
      text += `${this.#isFirst ? "" : ","}${JSON.stringify(row)}`;
      this.#isFirst = false;
      if (text.length < BATCH_BYTES) continue;
      await this.#spool.write(Buffer.from(text));
      text = "";
    }
    await this.#spool.write(Buffer.from(text));
    this.hash?.add(table, rows);
  }

  async end(): Promise<ReadonlyMap<string, TableSpan>> {
    await this.#endTable();
    await this.#spool.write(Buffer.from(this.#spans.size === 0 ? "{}" : "}"));
    return this.#spans;
  }

  async #endTable(): Promise<void> {
    if (this.#table === undefined) return;
    await this.#spool.write(Buffer.from("]"));
    const span = this.#spans.get(this.#table);
    if (span) span.end = this.#spool.bytes;
  }
}

/** Hashes each table, then those hashes in the order of the tables' names. */
class ContentHash {
  readonly #tables = new Map<string, Hash>();

  add(table: string, rows: readonly Row[]): void {
    const hash = this.#tables.get(table) ?? createHash("sha256");
    this.#tables.set(table, hash);
    for (const row of rows) hash.update(`${JSON.stringify(row, sortMembers)}\n`);
  }

  digest(): string {
    const whole = createHash("sha256");
    for (const table of [...this.#tables.keys()].sort()) {
      whole.update(`${JSON.stringify(table)} ${this.#tables.get(table)?.digest("hex")}\n`);
    }
    return whole.digest("hex");
  }
}

/** A `JSON.stringify` replacer that sorts the members of objects. */
function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
