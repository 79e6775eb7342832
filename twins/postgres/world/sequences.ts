/** The positions of sequences, shown as a table: after a reset to a snapshot without them, ids would be issued twice. */
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
 * Makes sequences transactional for this transaction: a rollback restores the numbers that it took.
 *
 * `nextval` is not transactional, so a refused write would leave a gap in the numbers that the code under test gets next. Setting a
 * sequence back afterwards is wrong if another client has taken a number in between. ALTER SEQUENCE gives a sequence new storage, which
 * a rollback discards, and locks it until the transaction ends: other clients wait, and get the numbers that they would have got.
 */
export async function lockSequences(client: Queryable, sequences: readonly Sequence[]): Promise<void> {
  if (sequences.length === 0) return;
  // Setting an option to its present value makes new storage without changing the definition. A fixed order prevents deadlocks.
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('ALTER SEQUENCE %s CACHE %s', seqrelid::regclass, seqcache) AS statement
       FROM pg_sequence WHERE seqrelid = ANY ($1::regclass[]::oid[]) ORDER BY seqrelid`,
    [sequences.map(({ sql }) => sql)],
  );
  // No definition changes, so the event trigger that watches definitions must not notify.
  await client.query("SELECT set_config('offhook.adopting', 'on', true)");
  await client.query(rows.map(({ statement }) => statement).join(";"));
  await client.query("SELECT set_config('offhook.adopting', 'off', true)");
}

/** A new position of a sequence. */
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

/** A rollback undoes it if the transaction has locked the sequences. @throws WorldRefusal for a number beyond a sequence's bounds */
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

/** The changed positions of the matching sequences. @throws WorldRefusal for unknown columns and invalid values */
export async function newPositions(
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
  const matching = (await readSequences(client, sequences)).filter((row) =>
    Object.entries(where).every(([column, value]) => String(row[column]) === String(value)),
  );
  const moved = positionsOf(
    matching.map((row) => ({ ...row, ...changes })),
    sequences,
  );
  if (problems.length > 0) throw new WorldRefusal(problems);
  if (moved.problems.length > 0) throw new WorldRefusal(moved.problems);
  return moved.positions;
}
