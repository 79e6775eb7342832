/** Where the sequences stand, shown as one more table: a snapshot without them would give ids out twice. */
import type { Problem, Row, TableDescription } from "../../sandbox/world.ts";
import type { Queryable, Sequence } from "./catalogue.ts";

export const sequenceTableName = "pg_sequences";

export const sequenceTable: TableDescription = {
  name: sequenceTableName,
  description:
    "Where each number sequence of the database stands. Its rows can be changed, not added or removed.",
  key: "sequence",
  columns: [
    { name: "sequence", type: "text", required: true, description: "Name of the sequence." },
    { name: "last_value", type: "integer", required: true, description: "The number it stands at, as text." },
    {
      name: "is_called",
      type: "boolean",
      required: true,
      description: "Whether that number was given out already; if not, it is the next one.",
    },
  ],
};

export async function readSequences(client: Queryable, sequences: Sequence[]): Promise<Row[]> {
  if (sequences.length === 0) return [];
  const parts = sequences.map(
    ({ sql }, i) =>
      `SELECT $${i + 1}::text AS sequence, last_value::text AS last_value, is_called FROM ${sql}`,
  );
  const { rows } = await client.query<Row>(
    parts.join(" UNION ALL "),
    sequences.map(({ name }) => name),
  );
  return rows;
}

/** A sequence and the position to put it to. */
export interface Position {
  sequence: Sequence;
  lastValue: string;
  isCalled: boolean;
}

export function positionsOf(
  rows: Row[],
  sequences: Sequence[],
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
    if (!isWholeNumber(lastValue)) refuse("last_value", "expected a whole number, as text");
    if (typeof row.is_called !== "boolean") refuse("is_called", "expected true or false");
    else if (sequence) positions.push({ sequence, lastValue: String(lastValue), isCalled: row.is_called });
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

/** Not undone by a rollback, as sequences never are: called when nothing else can fail any more. */
export async function setPositions(client: Queryable, positions: Position[]): Promise<void> {
  for (const { sequence, lastValue, isCalled } of positions) {
    await client.query("SELECT setval($1::regclass, $2::bigint, $3)", [sequence.sql, lastValue, isCalled]);
  }
}
