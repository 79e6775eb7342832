/** A world of events and of tables in memory. A write to both is atomic. */
import type { CheckedWorld } from "@offhook/platform/world/memory-world";
import { collectTables, sourceOf, withoutTables } from "@offhook/platform/world/state-source";
import {
  type HeldState,
  type Page,
  type PageRequest,
  type Row,
  type RowChange,
  type StateSource,
  type TableDescription,
  type Tables,
  type TakeRows,
  type TracedChange,
  type TraceListener,
  unknownTable,
  type World,
  type WorldChange,
  type WorldDifference,
  WorldRefusal,
} from "@offhook/platform/world/world";
import type { EventWorld } from "./event-world.ts";

/** The tables of an event world. */
const EVENT_TABLES: ReadonlySet<string> = new Set(["events", "fields"]);

export class EventsAndTables implements World {
  readonly #events: EventWorld;
  readonly #tables: CheckedWorld;
  readonly #known: ReadonlySet<string>;

  /** @param names of the tables in memory */
  constructor(events: EventWorld, tables: CheckedWorld, names: Iterable<string>) {
    this.#events = events;
    this.#tables = tables;
    this.#known = new Set([...EVENT_TABLES, ...names]);
  }

  get stateVersion(): number {
    return this.#events.stateVersion + this.#tables.stateVersion;
  }

  async schema(): Promise<TableDescription[]> {
    return [...(await this.#events.schema()), ...(await this.#tables.schema())];
  }

  async counts(): Promise<Record<string, number>> {
    return { ...(await this.#events.counts()), ...(await this.#tables.counts()) };
  }

  async rows(table: string, page: PageRequest): Promise<Page> {
    return this.#of(table).rows(table, page);
  }

  async insert(data: Tables): Promise<Record<string, number>> {
    const { events, tables, unknown } = this.#partition(data);
    const unknownProblems = unknown.map((table) => unknownTable(table, this.#known));
    if (Object.keys(events).length === 0) {
      if (unknownProblems.length === 0) return this.#tables.insert(tables);
      throw new WorldRefusal([...unknownProblems, ...this.#tables.insertProblems(tables)]);
    }
    const added = await this.#events.insert(events, {
      problems: () => [...unknownProblems, ...this.#tables.insertProblems(tables)],
      commit: () => this.#tables.insert(tables),
    });
    return Object.fromEntries(Object.keys(data).map((table) => [table, added[table] ?? sizeOf(data[table])]));
  }

  async update(table: string, where: Row, changes: Row): Promise<number> {
    return this.#of(table).update(table, where, changes);
  }

  async updateEach(changes: readonly RowChange[]): Promise<void> {
    const unknownProblems = changes.flatMap(({ table }) =>
      this.#known.has(table) ? [] : [unknownTable(table, this.#known)],
    );
    const events = changes.filter(({ table }) => EVENT_TABLES.has(table));
    const tables = changes.filter(({ table }) => this.#known.has(table) && !EVENT_TABLES.has(table));
    const problems = () => [...unknownProblems, ...this.#tables.updateProblems(tables)];
    if (events.length > 0) {
      return this.#events.updateEach(events, { problems, commit: () => this.#tables.updateEach(tables) });
    }
    if (unknownProblems.length > 0) throw new WorldRefusal(problems());
    return this.#tables.updateEach(tables);
  }

  async removeFound(table: string, filter: PageRequest["where"]): Promise<number> {
    return this.#of(table).removeFound(table, filter);
  }

  async remove(table: string, where: Row): Promise<number> {
    return this.#of(table).remove(table, where);
  }

  async dump(): Promise<Tables> {
    const events = await this.#events.dump();
    return { ...events, ...(await this.#tables.dump()) };
  }

  async dumpTo(take: TakeRows): Promise<void> {
    await this.#events.dumpTo(take);
    for (const [table, rows] of Object.entries(await this.#tables.dump())) await take(table, rows);
  }

  load(data: Tables): Promise<void> {
    return this.loadFrom(sourceOf(data));
  }

  async loadFrom(source: StateSource): Promise<void> {
    const known = source.tables.filter((table) => this.#known.has(table) && !EVENT_TABLES.has(table));
    const unknown = source.tables.filter((table) => !this.#known.has(table));
    const unknownProblems = unknown.map((table) => unknownTable(table, this.#known));
    const tables = await collectTables(source, known);
    await this.#events.loadFrom(withoutTables(source, new Set([...known, ...unknown])), {
      problems: () => [...unknownProblems, ...this.#tables.loadProblems(tables)],
      commit: () => this.#tables.load(tables),
    });
  }

  async hold(): Promise<HeldState> {
    const tables = await this.#tables.dump();
    const events = await this.#events.hold();
    return {
      restore: async () => {
        await events.restore();
        await this.#tables.load(tables);
      },
      release: () => events.release(),
    };
  }

  watch(listener: (change: WorldChange) => void): () => void {
    const beside = (other: World) => (change: WorldChange) =>
      listener({ ...change, stateVersion: change.stateVersion + other.stateVersion });
    const unwatch = [this.#events.watch(beside(this.#tables)), this.#tables.watch(beside(this.#events))];
    return () => {
      for (const end of unwatch) end();
    };
  }

  setBaseline(): void {
    this.#events.setBaseline();
    this.#tables.setBaseline?.();
  }

  async difference(): Promise<WorldDifference> {
    const events = await this.#events.difference();
    const tables = await this.#tables.difference?.();
    return {
      rows: [...events.rows, ...(tables?.rows ?? [])],
      uncompared: { ...events.uncompared, ...tables?.uncompared },
    };
  }

  trace(listener: TraceListener): () => void {
    const beside = (other: World) => (change: TracedChange) =>
      listener({ ...change, stateVersion: change.stateVersion + other.stateVersion });
    const tables = beside(this.#events);
    const ends = [
      this.#events.trace(beside(this.#tables)),
      this.#tables.trace?.(tables) ?? this.#tables.watch(tables),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** @throws WorldRefusal */
  #of(table: string): World {
    if (EVENT_TABLES.has(table)) return this.#events;
    if (this.#known.has(table)) return this.#tables;
    throw new WorldRefusal([unknownTable(table, this.#known)]);
  }

  #partition(data: Tables): { events: Tables; tables: Tables; unknown: string[] } {
    const entries = Object.entries(data);
    const isEvents = ([table]: [string, unknown]) => EVENT_TABLES.has(table);
    return {
      events: Object.fromEntries(entries.filter(isEvents)),
      tables: Object.fromEntries(entries.filter((entry) => !isEvents(entry) && this.#known.has(entry[0]))),
      unknown: entries.map(([table]) => table).filter((table) => !this.#known.has(table)),
    };
  }
}

function sizeOf(rows: readonly unknown[] | undefined): number {
  return rows?.length ?? 0;
}
