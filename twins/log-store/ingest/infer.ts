/**
 * Infers the type of each column from all rows; the first rows only narrow the candidates. A column whose rows disagree is text, with
 * every value as it was spelled.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { isTimeName } from "../fields.ts";
import { identifier, joined, raw, type Sql, sql } from "../sql.ts";
import { read } from "../store/duckdb.ts";
import { boolean, type Candidate, double, long, text, unsignedLong } from "./candidates.ts";
import { dates, dayFirst, isBlankTime, monthFirst, timeNumbers } from "./date-candidates.ts";
import type { StagedColumn } from "./row-reader.ts";
import { LIST_ESCAPE, LIST_SEPARATOR } from "./staging-file.ts";

/** A column of the staging table. */
export interface Staged extends StagedColumn {
  /** Its column there. */
  column: Sql;
}

export interface InferredColumn extends Staged {
  candidate: Candidate;
  /** Some of its values are placeholders for none, which only the event's text has. */
  blanks: boolean;
  note?: string;
}

type Decision = Omit<InferredColumn, "blanks">;

const SAMPLE_ROWS = 256;
/** Few rows that rule out most candidates. */
const FIRST_ROWS = 8;
/** Tests in one statement. */
const BATCH = 200;

/** @param table the staging table */
export async function inferTypes(
  connection: DuckDBConnection,
  table: Sql,
  columns: readonly Staged[],
): Promise<InferredColumn[]> {
  const found = new Map<Staged, Decision>();
  const filled = await countValues(connection, table, columns, ({ column }) => column);
  for (const column of columns) {
    if (!filled.get(column)) found.set(column, { ...column, candidate: text, note: "no row has a value" });
  }
  const open = await narrow(
    connection,
    table,
    columns.filter((column) => !found.has(column)),
  );
  for (let round = open; round.length > 0; ) {
    const held = await testEveryRow(
      connection,
      table,
      round.map(({ column, candidates }) => ({ column, candidates: nextOf(candidates) })),
    );
    const next: typeof round = [];
    round.forEach(({ column, candidates }, index) => {
      const best = held[index] ?? [];
      const decided = decide(column, candidates, best);
      if (decided) found.set(column, decided);
      else next.push({ column, candidates: candidates.slice(nextOf(candidates).length) });
    });
    round = next;
  }
  const decided = columns.flatMap((column) => found.get(column) ?? []);
  const dated = decided.filter(({ candidate }) => candidate.isBlank);
  const blanks = await countValues(connection, table, dated, blankValue);
  return decided.map((column) => ({ ...column, blanks: (blanks.get(column) ?? 0) > 0 }));
}

/** Reduces the candidates of each column to those that fit its first values. */
async function narrow(
  connection: DuckDBConnection,
  table: Sql,
  columns: readonly Staged[],
): Promise<Question[]> {
  const limit = raw(`LIMIT ${SAMPLE_ROWS}`);
  const first = sql`(SELECT * FROM ${table} ${limit})`;
  const filled = await countValues(connection, first, columns, givenValue);
  const questionOf = (column: Staged) => ({ column, candidates: candidatesFor(column) });
  const [full, sparse] = [columns.filter((c) => filled.get(c)), columns.filter((c) => !filled.get(c))];
  const few = sql`(SELECT * FROM ${table} LIMIT ${raw(String(FIRST_ROWS))})`;
  const possible = await narrowAll(connection, few, full.map(questionOf));
  const narrowed = await narrowAll(connection, first, possible);
  for (const column of sparse) {
    const rows = sql`(SELECT ${column.column} FROM ${table} WHERE ${givenValue(column)} IS NOT NULL ${limit})`;
    narrowed.push(...(await narrowAll(connection, rows, [questionOf(column)])));
  }
  return narrowed;
}

/**
 * Reduces candidates to those that fit every value of a few rows. It unpivots the columns, so that each candidate is one expression:
 * with hundreds of columns the planning of expressions takes the time.
 */
async function narrowAll(
  connection: DuckDBConnection,
  table: Sql,
  questions: readonly Question[],
): Promise<Question[]> {
  const held = new Map<Staged, readonly Candidate[]>();
  for (const multi of [false, true]) {
    const asked = questions.filter(
      ({ column, candidates }) => column.multi === multi && candidates.length > 0,
    );
    const candidates = [...new Set(asked.flatMap((question) => question.candidates))];
    if (candidates.length === 0) continue;
    const values = joined(
      asked.map(({ column }) => column.column),
      ", ",
    );
    const places = raw(`range(${asked.length})`);
    const tests = candidates.map((candidate) => fitsEveryRow({ column: raw("value"), multi }, candidate));
    const { rows } = await read(
      connection,
      sql`SELECT place, ${joined(tests, ", ")}
        FROM (SELECT unnest([${values}]) AS value, unnest(${places}) AS place FROM ${table}) GROUP BY place`,
    );
    for (const [place, ...fits] of rows) {
      const question = asked[Number(place)];
      if (question)
        held.set(
          question.column,
          candidates.filter((_, index) => fits[index] === true),
        );
    }
  }
  return questions.map(({ column, candidates }) => {
    const fitting = held.get(column);
    return { column, candidates: candidates.filter((candidate) => fitting?.includes(candidate)) };
  });
}

/** The value; NULL for a placeholder. A list counts as a whole. */
function givenValue({ column }: Staged): Sql {
  return sql`CASE WHEN NOT ${isBlankTime(column)} THEN ${column} END`;
}

/** A placeholder, or a list with one; else NULL. */
function blankValue({ column, multi }: Staged): Sql {
  const blank = multi
    ? sql`list_bool_or(list_transform(${splitList(column)}, value -> ${isBlankTime(raw("value"))}))`
    : isBlankTime(column);
  return sql`CASE WHEN ${blank} THEN ${column} END`;
}

/** The number of rows in which an expression is not NULL. */
async function countValues(
  connection: DuckDBConnection,
  table: Sql,
  columns: readonly Staged[],
  value: (column: Staged) => Sql,
): Promise<Map<Staged, number>> {
  const counts = new Map<Staged, number>();
  for (let from = 0; from < columns.length; from += BATCH) {
    const batch = columns.slice(from, from + BATCH);
    const each = batch.map((column) => sql`count(${value(column)})`);
    const { rows } = await read(connection, sql`SELECT ${joined(each, ", ")} FROM ${table}`);
    batch.forEach((column, index) => {
      counts.set(column, Number(rows[0]?.[index]));
    });
  }
  return counts;
}

/** Best first, without text, which always fits. */
function candidatesFor({ name, kinds }: Staged): readonly Candidate[] {
  const times = isTimeName(name) ? timeNumbers : [];
  const numbers = [...times, long, unsignedLong, double];
  if (kinds.cell) return [boolean, ...numbers, ...dates];
  if (kinds.text && kinds.boolean) return [];
  // A count since 1970 may be quoted, and so may a placeholder among numbers.
  if (kinds.text) return kinds.number ? times : [...times, ...dates];
  if (kinds.number) return kinds.boolean ? [] : numbers;
  return [boolean];
}

/** The candidates to test on all rows next: one, or the ambiguous two together. */
function nextOf(candidates: readonly Candidate[]): readonly Candidate[] {
  const both = candidates[0] === dayFirst && candidates[1] === monthFirst;
  return candidates.slice(0, both ? 2 : 1);
}

/** @param fitting the tested candidates that fit every row @returns `undefined` when none does and others remain */
function decide(
  column: Staged,
  candidates: readonly Candidate[],
  fitting: readonly Candidate[],
): Decision | undefined {
  const [only, other] = fitting;
  if (only && other) {
    const note = `every value is a date with the day first and with the month first, so it stays text`;
    return { ...column, candidate: text, note };
  }
  if (only) return { ...column, candidate: only, ...(only.type === "date" ? { note: only.name } : {}) };
  if (nextOf(candidates).length < candidates.length) return undefined;
  return { ...column, candidate: text, ...noteOfText(column) };
}

function noteOfText({ kinds }: Staged): { note?: string } {
  const { text, number, boolean } = kinds;
  const names = [text && "text", number && "numbers", boolean && "booleans"].filter((name) => name !== false);
  return names.length > 1 ? { note: `its values are ${names.join(" and ")}, so they stay text` } : {};
}

interface Question {
  column: Staged;
  candidates: readonly Candidate[];
}

/** Tests candidates on every row. @returns those that fit, for each question */
async function testEveryRow(
  connection: DuckDBConnection,
  table: Sql,
  questions: readonly Question[],
): Promise<Candidate[][]> {
  const all = questions.flatMap(({ column, candidates }, index) =>
    candidates.map((candidate) => ({ column, candidate, index })),
  );
  const answers = questions.map((): Candidate[] => []);
  for (let from = 0; from < all.length; from += BATCH) {
    const batch = all.slice(from, from + BATCH);
    const tests = batch.map(({ column, candidate }) => fitsEveryRow(column, candidate));
    const { rows } = await read(connection, sql`SELECT ${joined(tests, ", ")} FROM ${table}`);
    batch.forEach(({ candidate, index }, position) => {
      if (rows[0]?.[position] === true) answers[index]?.push(candidate);
    });
  }
  return answers;
}

function fitsEveryRow({ column, multi }: Pick<Staged, "column" | "multi">, candidate: Candidate): Sql {
  const fits = (value: Sql) => {
    const own = candidate.fits(value);
    return sql`coalesce(${candidate.isBlank ? sql`${candidate.isBlank(value)} OR ${own}` : own}, false)`;
  };
  const all = multi
    ? sql`list_bool_and(list_transform(${splitList(column)}, value -> ${fits(raw("value"))}))`
    : fits(column);
  return sql`bool_and(${column} IS NULL OR ${all})`;
}

function splitList(column: Sql): Sql {
  return sql`string_split(${column}, chr(${raw(String(LIST_SEPARATOR))}))`;
}

/** The value of the column in `documents`. */
export function convertedValue({ column, multi, candidate, kinds, blanks }: InferredColumn): Sql {
  const own = (value: Sql) => candidate.convert(kinds.cell ? value : unescapeValue(value));
  if (!multi) return own(column);
  const values = sql`list_transform(${splitList(column)}, value -> ${own(raw("value"))})`;
  return blanks ? sql`nullif(list_filter(${values}, value -> value IS NOT NULL), [])` : values;
}

/** Undoes the escapes of `RowValues`. */
function unescapeValue(value: Sql): Sql {
  const mark = raw(`chr(${LIST_ESCAPE})`);
  return sql`replace(replace(${value}, ${mark} || '1', chr(${raw(String(LIST_SEPARATOR))})), ${mark} || '0', ${mark})`;
}

/** The column of the staging table at this place. */
export function stagedColumn(index: number): Sql {
  return identifier(`c${index}`);
}
