/** What the world refuses, and in which words. */
import pg from "pg";
import { type Problem, type Row, unknownTable, WorldRefusal } from "../../sandbox/world.ts";
import { problemOf } from "./broken-rules.ts";
import type { Catalogue, Table } from "./catalogue.ts";
import { everyTable } from "./change-feed.ts";
import { isRefusal } from "./insert-rows.ts";
import { sequenceTableName } from "./sequences.ts";

const lockNotAvailable = "55P03";

/** Sequences come and go with the definitions, not with rows. */
export const fixedSequences: Problem = {
  table: sequenceTableName,
  rule: "its rows can be changed, not added or removed",
};

/** The key of a row is its identity, as in every other twin. */
export function keyChanges({ name, primaryKey }: Table, changes: Row): Problem[] {
  return primaryKey
    .filter((column) => Object.hasOwn(changes, column))
    .map((column) => ({ table: name, column, rule: "the key of a row cannot be changed" }));
}

/** @throws WorldRefusal with all of them */
export function refuseIfAny(problems: Problem[]): void {
  if (problems.length > 0) throw new WorldRefusal(problems);
}

/** @throws WorldRefusal naming the tables there are */
export function tableNamed(catalogue: Catalogue, name: string): Table {
  const table = catalogue.tables.get(name);
  if (!table) throw new WorldRefusal([unknownTable(name, catalogue.tables.keys())]);
  return table;
}

/** What Postgres has refused, as a refusal of the world; any other error as it is. */
export function refusalOf(error: unknown): unknown {
  if (isRefusal(error)) return new WorldRefusal([problemOf(error)]);
  if (error instanceof pg.DatabaseError && error.code === lockNotAvailable) {
    const rule =
      "an open transaction of the code under test holds a lock on it; end the transaction, or reset the twin";
    return new WorldRefusal([{ table: error.table ?? everyTable, rule }]);
  }
  return error;
}
