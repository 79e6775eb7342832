/** Reads the rows given to an event world, and collects all their problems. */
import { collectTables } from "@offhook/platform/world/state-source";
import { type Problem, type StateSource, type Tables, WorldRefusal } from "@offhook/platform/world/world";
import { Slices } from "../slices.ts";
import type { MisfitKind } from "../store/column-value.ts";
import type { LoadedDocument, StoreContent, StoredDocument, UnfitValue } from "../store/log-store.ts";
import { readRow } from "./event-row.ts";
import { readFieldRows } from "./field-rows.ts";
import { type ReadMapping, readIndexRows } from "./index-rows.ts";

const baseTables = ["events", "fields"];

export interface EventsReading {
  documents: LoadedDocument[];
  /** Position of each document among the rows. */
  positions: number[];
  problems: Problem[];
}

/** Events to be added. */
export async function readEvents(data: Tables, index: string): Promise<EventsReading> {
  const { events = [], fields, ...others } = data;
  const reading = await readEventRows(events, index);
  for (const table of Object.keys(others)) reading.problems.push(...tableProblems(table));
  if (fields) reading.problems.push(...tableProblems("fields", "change"));
  reading.documents.forEach(({ seqNo }, place) => {
    if (seqNo === undefined) return;
    const rule = "is given by the store; leave it out";
    const row = reading.positions[place] ?? 0;
    reading.problems.push({ table: "events", row, column: "_seq_no", value: seqNo, rule });
  });
  return reading;
}

/** Problems that a refusal lists: a state may have millions of rows. */
const MAX_PROBLEMS = 1000;

/** A whole state that is being read. */
export interface StateReading {
  declared: Pick<StoreContent, "fields" | "timeField" | "indices">;
  /** Position of each document read so far among the rows. */
  positions: number[];
  problems: Problem[];
  /** The events, in batches. @throws WorldRefusal after all batches if there are problems, or early if there are very many */
  documents(): AsyncGenerator<LoadedDocument[]>;
}

/** @param readMapping absent where indices have no mappings */
export async function readState(
  source: StateSource,
  index: string,
  readMapping?: ReadMapping,
): Promise<StateReading> {
  const tables = readMapping ? [...baseTables, "indices"] : baseTables;
  const given = await collectTables(
    source,
    tables.filter((table) => table !== "events"),
  );
  const { problems, ...ofDataset } = readFieldRows(given.fields ?? []);
  problems.push(...source.tables.flatMap((table) => tableProblems(table, "read", tables)));
  const own = readMapping && readIndexRows(given.indices ?? [], readMapping);
  problems.push(...(own?.problems ?? []));
  const declared = own
    ? { ...ofDataset, fields: [...ofDataset.fields, ...own.fields], indices: own.indices }
    : ofDataset;
  const positions: number[] = [];
  return {
    declared,
    positions,
    problems,
    async *documents() {
      let from = 0;
      for await (const rows of source.rows("events")) {
        const reading = await readEventRows(rows, index);
        for (const problem of reading.problems) problems.push({ ...problem, row: (problem.row ?? 0) + from });
        for (const position of reading.positions) positions.push(position + from);
        if (problems.length >= MAX_PROBLEMS) throw new WorldRefusal(problems.slice(0, MAX_PROBLEMS));
        from += rows.length;
        yield reading.documents;
      }
      if (problems.length > 0) throw new WorldRefusal(problems);
    },
  };
}

async function readEventRows(rows: readonly unknown[], index: string): Promise<EventsReading> {
  const slices = new Slices();
  const reading: EventsReading = { documents: [], positions: [], problems: [] };
  const places = new Set<string>();
  for (const [row, given] of rows.entries()) {
    if (slices.over) await slices.next();
    const read = readRow(given, index);
    if ("problems" in read) {
      reading.problems.push(...read.problems.map((problem) => ({ table: "events", row, ...problem })));
      continue;
    }
    const { id } = read.document;
    const place = JSON.stringify([read.document.index, id]);
    if (id !== undefined && places.has(place)) {
      reading.problems.push({ table: "events", row, column: "_id", value: id, rule: "is there twice" });
    }
    places.add(place);
    reading.documents.push(read.document);
    reading.positions.push(row);
  }
  return reading;
}

/** Problems of events whose place is taken in the store. */
export function takenProblems(
  { documents, positions }: EventsReading,
  there: readonly StoredDocument[],
): Problem[] {
  const taken = new Set(there.map(({ id, index }) => JSON.stringify([index, id])));
  return documents.flatMap(({ id, index }, place): Problem[] => {
    if (id === undefined || !taken.has(JSON.stringify([index, id]))) return [];
    const rule = `there is an event of this id in ${index} already`;
    return [{ table: "events", row: positions[place] ?? 0, column: "_id", value: id, rule }];
  });
}

/** Problems of events that repeat a place. */
export function repeatedProblems(
  documents: readonly { document: number; id: string }[],
  positions: readonly number[],
): Problem[] {
  return documents.map(({ document, id }) => ({
    table: "events",
    row: positions[document] ?? document,
    column: "_id",
    value: id,
    rule: "is there twice",
  }));
}

/** @param use `change`: a write to single rows of this table */
export function tableProblems(
  table: string,
  use: "read" | "change" = "read",
  tables: readonly string[] = baseTables,
): Problem[] {
  if (!tables.includes(table)) {
    return [{ table, rule: `no such table; this world has ${tables.join(", ")}` }];
  }
  if (table === "events" || use === "read") return [];
  return [{ table, rule: "fields come from the events; they are given only with a whole state" }];
}

/** @param positions `undefined`: the problems belong to no row of a body */
export function unfitProblems(
  values: readonly UnfitValue[],
  positions: readonly number[] | undefined,
): Problem[] {
  return values.map(({ document, kind, field, type, value, reason }) => ({
    table: "events",
    ...(positions && { row: positions[document] ?? document }),
    ...(field !== "" && { column: field }),
    ...(value !== "" && { value: JSON.parse(value) }),
    rule: needsTypeName.has(kind) ? `must be of type ${type}, as the field is: ${reason}` : reason,
  }));
}

/** Kinds where the vendor's reason does not name the expected type. */
const needsTypeName: ReadonlySet<MisfitKind> = new Set([
  "not_a_number",
  "out_of_range",
  "not_finite",
  "not_a_boolean",
  "not_a_date",
  "not_an_address",
]);
