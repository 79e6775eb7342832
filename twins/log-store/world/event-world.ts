/**
 * The events of a log twin as a world, with the tables `events` and `fields`. It shares its store with the vendor's API.
 */
import { getOrAdd } from "@offhook/platform/base/get-or-add";
import { sourceOf } from "@offhook/platform/world/state-source";
import {
  type HeldState,
  missingRow,
  type Page,
  type PageRequest,
  type Problem,
  type Row,
  type RowChange,
  repeatedRow,
  type StateSource,
  type TableDescription,
  type Tables,
  type TakeRows,
  type TraceListener,
  type World,
  type WorldChange,
  type WorldDifference,
  WorldRefusal,
} from "@offhook/platform/world/world";
import { raw, sql } from "../sql.ts";
import {
  type LoadedDocument,
  type LogReader,
  type LogStore,
  RepeatedDocuments,
  type StoredDocument,
  UnfitDocuments,
} from "../store/log-store.ts";
import { readDocuments, selectDocuments, storedDocuments } from "../store/stored-documents.ts";
import { describeEvents, fieldsDescription, indicesDescription } from "./describe.ts";
import { EVENTS, EventChanges, FIELDS, INDICES } from "./event-changes.ts";
import { readFilter } from "./event-filter.ts";
import { ownColumns, rowOf } from "./event-row.ts";
import { fieldRows } from "./field-rows.ts";
import { indexRows, type ReadMapping } from "./index-rows.ts";
import { changeMembers } from "./json-spans.ts";
import {
  readEvents,
  readState,
  repeatedProblems,
  tableProblems,
  takenProblems,
  unfitProblems,
} from "./read-state.ts";

/** Events that one change may affect. */
const MAX_CHANGED = 100_000;

export interface EventWorldOptions {
  /** The store, opened by the first call. */
  store(): Promise<LogStore>;
  /** The store, if it is open. */
  opened(): LogStore | undefined;
  /** Calls the listener with the store when it is opened, at once if it is; absent: it is open from the start. */
  whenOpened?(listener: (store: LogStore) => void): void;
  /** Index of events that name none. */
  index: string;
  /** Parses the mapping of an index; absent where indices have none. @throws Error that says what is wrong with it */
  readMapping?: ReadMapping | undefined;
}

/** Another write, atomic with that of events. */
interface Alongside {
  /** Why it would be refused. */
  problems(): Problem[];
  /** Runs after the events are written. When it throws, the events are rolled back. */
  commit(): Promise<unknown>;
}

const nothing: Alongside = { problems: () => [], commit: async () => undefined };

export class EventWorld implements World {
  readonly #options: EventWorldOptions;
  readonly #changes = new EventChanges();
  /** The store whose changes this world announces. */
  #watched: LogStore | undefined;

  constructor(options: EventWorldOptions) {
    this.#options = options;
  }

  /** 0 until the store is opened. */
  get stateVersion(): number {
    return this.#options.opened()?.stateVersion ?? 0;
  }

  async schema(): Promise<TableDescription[]> {
    const { fields } = await this.#store();
    const descriptions = [describeEvents(fields), fieldsDescription];
    return this.#options.readMapping ? [...descriptions, indicesDescription] : descriptions;
  }

  async counts(): Promise<Record<string, number>> {
    const store = await this.#store();
    const counts = await store.counts();
    const events = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const { size } = store.fields.indices;
    return {
      [EVENTS]: events,
      [FIELDS]: store.fields.size,
      ...(this.#options.readMapping ? { [INDICES]: size } : {}),
    };
  }

  async rows(table: string, { where, limit, offset }: PageRequest): Promise<Page> {
    const store = await this.#store();
    if (table === FIELDS) {
      return pageOf(fieldRows(store.fields), fieldsDescription, { where, limit, offset });
    }
    if (table === INDICES && this.#options.readMapping) {
      return pageOf(indexRows(store.fields), indicesDescription, { where, limit, offset });
    }
    refuseIf(tableProblems(table));
    const predicate = filterOf(store, where, "text");
    const [{ rows: counted }, found] = await Promise.all([
      store.query(sql`SELECT count(*) FROM documents WHERE ${predicate}`),
      store.query(
        sql`${selectDocuments(predicate)} LIMIT CAST(${limit} AS BIGINT) OFFSET CAST(${offset} AS BIGINT)`,
      ),
    ]);
    return { rows: storedDocuments(found).map(rowOf), total: Number(counted[0]?.[0] ?? 0) };
  }

  /** @param alongside another write, all or nothing with this one; nobody else writes events meanwhile */
  async insert(data: Tables, alongside = nothing): Promise<Record<string, number>> {
    const store = await this.#store();
    return store.exclusively(async (writer) => {
      const reading = await readEvents(data, this.#options.index);
      const there = await writer.byId(
        undefined,
        reading.documents.flatMap(({ id }) => id ?? []),
      );
      const unfit = await writer.misfits(reading.documents);
      refuseIf([
        ...reading.problems,
        ...takenProblems(reading, there),
        ...unfitProblems(unfit, reading.positions),
        ...alongside.problems(),
      ]);
      const written = reading.documents.length > 0 ? await writer.write(reading.documents) : [];
      try {
        await alongside.commit();
      } catch (error) {
        await writer.remove(written);
        throw error;
      }
      return Object.fromEntries(Object.entries(data).map(([table, rows]) => [table, rows.length]));
    });
  }

  async update(table: string, where: Row, changes: Row): Promise<number> {
    const store = await this.#store();
    return store.exclusively(async (writer) => {
      refuseIf(tableProblems(table, "change"));
      const filter = readFilter(EVENTS, writer.fields, where, "json");
      const problems = [...("problems" in filter ? filter.problems : []), ...changeProblems(changes)];
      const members = Object.fromEntries(Object.entries(changes).filter(([name]) => !ownNames.has(name)));
      const predicate = "problems" in filter ? raw("false") : filter.predicate;
      const found = await documentsOf(writer, predicate);
      const documents = found.map(({ id, index, source }) => ({
        id,
        index,
        source: changeMembers(source, members),
      }));
      // A change that matches no event is checked as well.
      const checked = documents.length > 0 ? documents : [{ index: EVENTS, source: JSON.stringify(members) }];
      const [unfit] = await writer.misfits(checked);
      if (unfit) problems.push(...unfitProblems([unfit], undefined));
      refuseIf(problems);
      if (documents.length > 0) await writer.write(documents);
      return documents.length;
    });
  }

  /** @param alongside another write, all or nothing with this one */
  async updateEach(changes: readonly RowChange[], alongside = nothing): Promise<void> {
    const store = await this.#store();
    await store.exclusively(async (writer) => {
      const problems: Problem[] = changes.flatMap(({ table, row, changes: given }) =>
        [...tableProblems(table, "change"), ...changeProblems(given)].map((problem) => ({ ...problem, row })),
      );
      const ids = changes.map(({ key }) => String(key._id));
      const before = await writer.byId(undefined, ids);
      const there = new Map<string, StoredDocument[]>();
      for (const document of before) getOrAdd(there, document.id, () => []).push(document);
      const seen = new Set<string>();
      const documents: LoadedDocument[] = [];
      const positions: number[] = [];
      changes.forEach((change, place) => {
        const id = ids[place] ?? "";
        if (seen.has(id)) problems.push(repeatedRow(change));
        seen.add(id);
        const found = there.get(id) ?? [];
        if (found.length === 0) problems.push(missingRow(change));
        for (const { index, source } of found) {
          documents.push({ id, index, source: changeMembers(source, change.changes) });
          positions.push(change.row);
        }
      });
      problems.push(...unfitProblems(await writer.misfits(documents), positions), ...alongside.problems());
      refuseIf(problems);
      if (documents.length > 0) await writer.write(documents);
      try {
        await alongside.commit();
      } catch (error) {
        await writer.write(before.map(({ id, index, source, version }) => ({ id, index, source, version })));
        throw error;
      }
    });
  }

  async remove(table: string, where: Row): Promise<number> {
    return this.#remove(table, where, "json");
  }

  async removeFound(table: string, filter: PageRequest["where"]): Promise<number> {
    return this.#remove(table, filter, "text");
  }

  async #remove(table: string, where: Readonly<Row>, form: "text" | "json"): Promise<number> {
    const store = await this.#store();
    return store.exclusively(async (writer) => {
      refuseIf(tableProblems(table, "change"));
      const found = await documentsOf(writer, filterOf(writer, where, form));
      await writer.remove(found);
      return found.length;
    });
  }

  async dump(): Promise<Tables> {
    const tables: Tables = {
      [EVENTS]: [],
      [FIELDS]: [],
      ...(this.#options.readMapping ? { [INDICES]: [] } : {}),
    };
    await this.dumpTo(async (table, rows) => {
      for (const row of rows) tables[table]?.push(row);
    });
    return tables;
  }

  /** A consistent snapshot: nobody writes events meanwhile. */
  async dumpTo(take: TakeRows): Promise<void> {
    const store = await this.#store();
    await store.exclusively(async (reader) => {
      await take(EVENTS, []);
      for await (const documents of readDocuments(reader)) await take(EVENTS, documents.map(rowOf));
      await take(FIELDS, fieldRows(reader.fields));
      if (this.#options.readMapping) await take(INDICES, indexRows(reader.fields));
    });
  }

  load(data: Tables, alongside = nothing): Promise<void> {
    return this.loadFrom(sourceOf(data), alongside);
  }

  /** @param alongside another load; nothing changes when either is refused */
  async loadFrom(source: StateSource, alongside = nothing): Promise<void> {
    const store = await this.#store();
    const reading = await readState(source, this.#options.index, this.#options.readMapping);
    reading.problems.push(...alongside.problems());
    try {
      await store.load({ ...reading.declared, documents: reading.documents() });
    } catch (error) {
      if (error instanceof UnfitDocuments) {
        reading.problems.push(...unfitProblems(error.values, reading.positions));
      } else if (error instanceof RepeatedDocuments) {
        reading.problems.push(...repeatedProblems(error.documents, reading.positions));
      } else if (!(error instanceof WorldRefusal)) throw error;
      refuseIf(reading.problems);
      throw error;
    }
    await alongside.commit();
  }

  /** A store that is not open yet has its baseline, which a reset brings back. */
  async hold(): Promise<HeldState> {
    const opened = this.#options.opened();
    if (opened) return opened.hold();
    return { restore: async () => this.#options.opened()?.reset(), release: async () => undefined };
  }

  watch(listener: (change: WorldChange) => void): () => void {
    // A request to a store that cannot be opened reports the error.
    this.#store().catch(() => {});
    return this.#changes.watch(listener);
  }

  trace(listener: TraceListener): () => void {
    this.#options.whenOpened?.((store) => this.#follow(store));
    return this.#changes.trace(listener);
  }

  setBaseline(): void {
    this.#changes.setBaseline();
  }

  async difference(): Promise<WorldDifference> {
    return this.#changes.difference();
  }

  async #store(): Promise<LogStore> {
    const store = await this.#options.store();
    this.#follow(store);
    return store;
  }

  #follow(store: LogStore): void {
    if (this.#watched === store) return;
    this.#watched = store;
    store.watch((change) => this.#changes.announce(change));
  }
}

function pageOf(all: readonly Row[], table: TableDescription, { where, limit, offset }: PageRequest): Page {
  const columns = table.columns.map(({ name }) => name);
  const unknown = Object.keys(where).filter((name) => !columns.includes(name));
  refuseIf(
    unknown.map((column) => ({
      table: table.name,
      column,
      rule: `no such column; ${table.name} has ${columns.join(", ")}`,
    })),
  );
  const rows = all.filter((row) =>
    Object.entries(where).every(([name, value]) => String(row[name]) === value),
  );
  return { rows: rows.slice(offset, offset + limit), total: rows.length };
}

function filterOf(store: LogReader, where: Readonly<Row>, form: "text" | "json") {
  const filter = readFilter(EVENTS, store.fields, where, form);
  if ("problems" in filter) throw new WorldRefusal(filter.problems);
  return filter.predicate;
}

async function documentsOf(
  store: LogReader,
  predicate: ReturnType<typeof filterOf>,
): Promise<StoredDocument[]> {
  const limit = raw(String(MAX_CHANGED + 1));
  const found = storedDocuments(await store.query(sql`${selectDocuments(predicate)} LIMIT ${limit}`));
  if (found.length <= MAX_CHANGED) return found;
  throw new WorldRefusal([
    { table: EVENTS, rule: `more than ${MAX_CHANGED} events match; select fewer, or reset the sandbox` },
  ]);
}

const ownNames: ReadonlySet<string> = new Set(ownColumns);

function changeProblems(changes: Row): Problem[] {
  return ownColumns
    .filter((name) => Object.hasOwn(changes, name))
    .map((column) => ({
      table: EVENTS,
      column,
      value: changes[column],
      rule:
        column === "_id"
          ? "the key of a row cannot be changed"
          : "cannot be changed; change the event's own members",
    }));
}

function refuseIf(problems: Problem[]): void {
  if (problems.length > 0) throw new WorldRefusal(problems);
}
