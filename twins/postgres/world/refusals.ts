/** Refusals of the world, and their words. */
import { type Problem, type Row, unknownTable, WorldRefusal } from "@offhook/platform/world/world";
import { problemOf } from "./broken-rules.ts";
import type { Catalogue, Table } from "./catalogue.ts";
import { definitionTableName } from "./definitions.ts";
import { isRefusal } from "./insert-rows.ts";
import { sequenceTableName } from "./sequences.ts";

/** Definitions create and drop sequences, not rows. */
const fixedSequences: Problem = {
  table: sequenceTableName,
  rule: "its rows can be changed, not added or removed",
};

/** Statements of the code under test change definitions, or a snapshot all at once. */
export const fixedDefinitions: Problem = {
  table: definitionTableName,
  rule: "its rows cannot be written one by one; run the statement over a connection, or give a snapshot to reset",
};

/** Tables whose single rows cannot be written, with the problem to report. */
export const fixedTables: ReadonlyMap<string, Problem> = new Map([
  [sequenceTableName, fixedSequences],
  [definitionTableName, fixedDefinitions],
]);

/** The key of a row is its identity, as in every other twin. */
export function keyChanges({ name, primaryKey }: Table, changes: Row): Problem[] {
  return primaryKey
    .filter((column) => Object.hasOwn(changes, column))
    .map((column) => ({ table: name, column, rule: "the key of a row cannot be changed" }));
}

/** @throws WorldRefusal with all problems, if there are any */
export function refuseIfAny(problems: Problem[]): void {
  if (problems.length > 0) throw new WorldRefusal(problems);
}

/** @throws WorldRefusal naming the existing tables */
export function findTable(catalogue: Catalogue, name: string): Table {
  const table = catalogue.tables.get(name);
  if (!table) throw new WorldRefusal([unknownTable(name, catalogue.tables.keys())]);
  return table;
}

/** Converts a refusal of Postgres to one of the world; returns any other error as it is. */
export function refusalOf(error: unknown): unknown {
  if (isRefusal(error)) return new WorldRefusal([problemOf(error)]);
  return error;
}
