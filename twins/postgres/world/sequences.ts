/** Where the sequences stand, shown as one more table: a snapshot without them would give ids out twice. */
import { type Problem, type Row, type TableDescription, WorldRefusal } from "@offhook/platform/world/world";
import type { Queryable, Sequence } from "./catalogue.ts";
import { isRefusal } from "./insert-rows.ts";
import { decodeValue } from "./values.ts";

export const sequenceTableName = "pg_sequences";

export const sequenceTable: TableDescription = {
  name: sequenceTableName,
  description:
    "Where each number sequence of the database stands. Its rows can be changed, not added or removed.",
  key: "sequence",
  columns: [
    { name: "sequence", type: "text", required: true, description: "Name of the sequence." },
    { name: "last_value", type: "integer", required: true, description: "The number it stands at." },
    {
      name: "is_called",
      type: "boolean",
      required: true,
      description: "Whether that number was given out already; if not, it is the next one.",
    },
  ],
};

export async function readSequences(client: Queryable, sequences: readonly Sequence[]): Promise<Row[]> {
  if (sequences.length === 0) return [];
  const parts = sequences.map(
    ({ sql }, i) =>
      `SELECT $${i + 1}::text AS sequence, last_value::text AS last_value, is_called FROM ${sql}`,
  );
  const { rows } = await client.query<Row>(
    parts.join(" UNION ALL "),
    sequences.map(({ name }) => name),
  );
  return rows.map((row) => ({ ...row, last_value: decodeValue({ kind: "bigint" }, String(row.last_value)) }));
}

/**
 * Makes the numbers that this transaction takes from the sequences part of it: a rollback gives them back.
 *
 * `nextval` is not transactional, so what a refused write had taken would be missing from the numbers that the code under
 * test gets next. To set a sequence back afterwards is wrong as soon as anybody else has taken a number in between. But
 * ALTER SEQUENCE gives a sequence new storage, which a rollback throws away, and lets nobody else take numbers until the
 * transaction ends: whoever asks for one waits, and gets the number he would have got.
 */
export async function holdSequences(client: Queryable, sequences: readonly Sequence[]): Promise<void> {
  if (sequences.length === 0) return;
  // An option set to what it is makes new storage without changing the definition. In one order, so that two never deadlock.
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('ALTER SEQUENCE %s CACHE %s', seqrelid::regclass, seqcache) AS statement
       FROM pg_sequence WHERE seqrelid = ANY ($1::regclass[]::oid[]) ORDER BY seqrelid`,
    [sequences.map(({ sql }) => sql)],
  );
  // Nothing is defined anew, so the event trigger that watches definitions has nothing to tell.
  await client.query("SELECT set_config('offhook.adopting', 'on', true)");
  await client.query(rows.map(({ statement }) => statement).join(";"));
  await client.query("SELECT set_config('offhook.adopting', 'off', true)");
}

/** A sequence and the position to put it to. */
export interface Position {
  /** Position in the array of the body. */
  row: number;
  sequence: Sequence;
  lastValue: string;
  isCalled: boolean;
}

export function positionsOf(
  rows: Row[],
  sequences: readonly Sequence[],
): { positions: Position[]; problems: Problem[] } {
  const positions: Position[] = [];
  const problems: Problem[] = [];
  for (const [index, row] of rows.entries()) {
    const refuse = (column: string, rule: string) =>
      problems.push({ table: sequenceTableName, row: index, column, value: row[column], rule });
    const sequence = sequences.find(({ name }) => name === row.sequence);
    const lastValue = row.last_value;
    if (!sequence)
      refuse("sequence", `expected one of ${sequences.map(({ name }) => name).join(", ") || "none"}`);
    if (!isWholeNumber(lastValue)) refuse("last_value", "expected a whole number");
    if (typeof row.is_called !== "boolean") refuse("is_called", "expected true or false");
    else if (sequence)
      positions.push({ row: index, sequence, lastValue: String(lastValue), isCalled: row.is_called });
  }
  return { positions, problems };
}

function isWholeNumber(value: unknown): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value);
  try {
    return typeof value === "string" && value !== "" && BigInt.asIntN(64, BigInt(value)) === BigInt(value);
  } catch {
    return false;
  }
}

/** Undone by a rollback when the transaction holds the sequences. @throws WorldRefusal for a number beyond a sequence's bounds */
export async function setPositions(client: Queryable, positions: Position[]): Promise<void> {
  for (const { row, sequence, lastValue, isCalled } of positions) {
    try {
      await client.query("SELECT setval($1::regclass, $2::bigint, $3)", [sequence.sql, lastValue, isCalled]);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const problem = { table: sequenceTableName, row, column: "last_value", value: lastValue };
      throw new WorldRefusal([{ ...problem, rule: error.message }]);
    }
  }
}

/** The positions of the sequences that fit, changed. @throws WorldRefusal for columns and values that there are not */
export async function movedPositions(
  client: Queryable,
  sequences: readonly Sequence[],
  where: Row,
  changes: Row,
): Promise<Position[]> {
  const names = sequenceTable.columns.map(({ name }) => name);
  const unknown = Object.keys({ ...where, ...changes }).filter((column) => !names.includes(column));
  const problems: Problem[] = unknown.map((column) => ({
    table: sequenceTableName,
    column,
    rule: `there is no such column; the columns are ${names.join(", ")}`,
  }));
  if (Object.hasOwn(changes, "sequence")) {
    problems.push({
      table: sequenceTableName,
      column: "sequence",
      rule: "the key of a row cannot be changed",
    });
  }
  const chosen = (await readSequences(client, sequences)).filter((row) =>
    Object.entries(where).every(([column, value]) => String(row[column]) === String(value)),
  );
  const moved = positionsOf(
    chosen.map((row) => ({ ...row, ...changes })),
    sequences,
  );
  if (problems.length > 0) throw new WorldRefusal(problems);
  if (moved.problems.length > 0) throw new WorldRefusal(moved.problems);
  return moved.positions;
}
