/** Checks rows and changes of rows against a table's columns. */

import { cloneFrozenJson } from "../base/json.ts";
import type { Column } from "./column.ts";
import { isKey, type TableType } from "./table.ts";
import type { Problem, Row } from "./world.ts";

/** The outcome of checking a row: the row to store, or all its problems. */
export type RowReading = { ok: true; row: Readonly<Row> } | { ok: false; problems: Problem[] };

/** Checks a whole row and fills in defaults. @returns a frozen copy */
export function readRow(type: TableType, given: unknown, position: number | undefined): RowReading {
  const whole = type.whole.safeParse(given);
  if (whole.success && isKey(whole.data[type.key])) return { ok: true, row: cloneFrozenJson(whole.data) };
  const problems = problemsOfRow(type, given, position);
  if (problems.length === 0) throw new Error(`a row of ${type.name} is refused, but none of its columns is`);
  return { ok: false, problems };
}

/** All problems of a row, column by column. */
function problemsOfRow(type: TableType, given: unknown, position: number | undefined): Problem[] {
  const place = position === undefined ? { table: type.name } : { table: type.name, row: position };
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return [{ ...place, value: truncateValue(given), rule: "a row is an object" }];
  }
  const members = given as Row;
  const problems = unknownColumns(type, members, place);
  const row: Row = {};
  for (const column of type.columns.values()) {
    const value = Object.hasOwn(members, column.name) ? members[column.name] : undefined;
    readCell(column, value, place, row, problems);
  }
  if (problems.length === 0 && !isKey(row[type.key])) {
    problems.push({
      ...place,
      column: type.key,
      value: truncateValue(row[type.key]),
      rule: "identifies the row",
    });
  }
  return problems;
}

/** Checks the changed columns of a row. A change to `undefined` clears an optional column. */
export function readChanges(type: TableType, changes: Row): RowReading {
  const place = { table: type.name };
  const problems = unknownColumns(type, changes, place);
  const row: Row = {};
  for (const [name, value] of Object.entries(changes)) {
    const column = type.columns.get(name);
    if (!column) continue;
    if (name === type.key)
      problems.push({ ...place, column: name, rule: "the key of a row cannot be changed" });
    else {
      row[name] = undefined;
      readCell(column, value, place, row, problems);
    }
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, row };
}

function readCell(
  column: Column,
  value: unknown,
  place: { table: string },
  row: Row,
  problems: Problem[],
): void {
  const reading = column.type.safeParse(value);
  if (reading.success) {
    if (reading.data !== undefined) row[column.name] = reading.data;
    return;
  }
  for (const issue of reading.error.issues) {
    const inside = issue.path.length > 0 ? `${issue.path.map(String).join(".")}: ` : "";
    const rule =
      value === undefined ? `is required (${column.description.type})` : `${inside}${issue.message}`;
    problems.push({ ...place, column: column.name, value: truncateValue(value), rule });
  }
}

/** Merges changes into a row; a column changed to `undefined` is removed. */
export function mergeRow(row: Readonly<Row>, changes: Readonly<Row>): Readonly<Row> {
  return cloneFrozenJson({ ...row, ...changes });
}

/** All problems of a selection: unknown columns, and values of a type that the column cannot hold. */
export function conditionProblems(type: TableType, where: Row): Problem[] {
  const problems = unknownColumns(type, where, { table: type.name });
  for (const [name, value] of Object.entries(where)) {
    const kind = type.columns.get(name)?.description.type;
    if (kind === undefined || value === null || isOfKind(kind, value)) continue;
    problems.push({
      table: type.name,
      column: name,
      value: truncateValue(value),
      rule: `is compared with ${kind}`,
    });
  }
  return problems;
}

function isOfKind(kind: string, value: unknown): boolean {
  switch (kind) {
    case "json":
      return true;
    case "integer":
      return Number.isInteger(value);
    case "number":
    case "boolean":
      return typeof value === kind;
    default:
      return typeof value === "string";
  }
}

/** One problem for each unknown column. */
export function unknownColumns(type: TableType, members: Row, place: { table: string }): Problem[] {
  return Object.keys(members)
    .filter((name) => !type.columns.has(name))
    .map((column) => ({
      ...place,
      column,
      rule: `no such column; ${type.name} has ${[...type.columns.keys()].join(", ")}`,
    }));
}

/** Truncates a value for a problem, so that a refusal stays readable. */
export function truncateValue(value: unknown): unknown {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text !== undefined && text.length > 200 ? `${text.slice(0, 200)}…` : value;
}
