/**
 * Statements that ask for no more columns than are read. A SELECT that is made in steps names all columns in each of them, and
 * DuckDB plans them all before it finds that nobody reads them, which can take longer than the rest of the statement.
 *
 * A column can be read by its name, or by a `*` whose reader then names it. So a column whose name stands nowhere in the
 * statement, other than in columns that are left out themselves, is left out wherever it is given. This looks at names alone, not
 * at what they stand for: the same columns go from all sides of a UNION, and a name that means something else keeps a column too
 * many, never one too few.
 */
import { identifier, joined, type Place, Sql, sql } from "./sql.ts";

/** What a row's expression can do beside giving a value: make more rows of it. */
const makesRows = /\b(unnest|generate_subscripts|generate_series|range)\s*\(/iu;

/**
 * The columns of a SELECT, of which those that nobody reads are left out by `withNeededColumns`. The SELECT may neither group its
 * rows nor tell them apart (DISTINCT), and who reads it must name the columns.
 * @param always what stays: columns with their names
 */
export function columnsIfRead(
  columns: readonly { column: string; value: Sql }[],
  always: readonly Sql[],
): Sql {
  const given = columns.map(({ column, value }) => ({
    column,
    item: sql`${value} AS ${identifier(column)}`,
  }));
  if (always.length === 0)
    return joined(
      given.map(({ item }) => item),
      ", ",
    );
  const items = given.map(({ column, item }) => {
    const whole = sql`${item}, `;
    return item.texts.some((text) => makesRows.test(text)) ? whole : optional(column, whole);
  });
  return sql`${joined(items, "")}${joined(always, ", ")}`;
}

function optional(column: string, { texts, values, kept }: Sql): Sql {
  const end = { text: texts.length - 1, at: texts.at(-1)?.length ?? 0 };
  return new Sql(texts, values, [{ column, start: { text: 0, at: 0 }, end }], kept);
}

/** The same statement without the columns that it does not read. */
export function withNeededColumns(statement: Sql): Sql {
  if (statement.optional.length === 0) return statement;
  const pieces = piecesOf(statement);
  const givers = new Map<string, Sql[]>();
  const unread = pieces.flatMap(({ column, piece }) => (column === undefined ? [piece] : []));
  for (const { column, piece } of pieces) {
    if (column === undefined) continue;
    const name = column.toLowerCase();
    const others = givers.get(name);
    if (others === undefined) givers.set(name, [piece]);
    else others.push(piece);
  }
  const read = new Set<string>();
  for (let piece = unread.pop(); piece !== undefined; piece = unread.pop()) {
    for (const name of namesIn(piece)) {
      if (read.has(name)) continue;
      read.add(name);
      unread.push(...(givers.get(name) ?? []));
    }
  }
  const kept = pieces.filter(({ column }) => column === undefined || read.has(column.toLowerCase()));
  const { texts, values } = joined(
    kept.map(({ piece }) => piece),
    "",
  );
  return new Sql(texts, values, [], statement.kept);
}

/** The optional parts, and what stands between them. */
function piecesOf(statement: Sql): { column?: string; piece: Sql }[] {
  const pieces: { column?: string; piece: Sql }[] = [];
  let from: Place = { text: 0, at: 0 };
  for (const { column, start, end } of statement.optional) {
    pieces.push(
      { piece: between(statement, from, start) },
      { column, piece: between(statement, start, end) },
    );
    from = end;
  }
  const text = statement.texts.length - 1;
  pieces.push({ piece: between(statement, from, { text, at: statement.texts[text]?.length ?? 0 }) });
  return pieces;
}

function between({ texts, values }: Sql, start: Place, end: Place): Sql {
  const inside = texts
    .slice(start.text, end.text + 1)
    .map((text, index) =>
      text.slice(index === 0 ? start.at : 0, index === end.text - start.text ? end.at : undefined),
    );
  return new Sql(inside, values.slice(start.text, end.text));
}

const tokens = /'(?:[^']|'')*'|"((?:[^"]|"")*)"|[a-z_][a-z_0-9]*/giu;

/** The names in texts that come again with every search: those of events' columns. */
const known = new Map<string, readonly string[]>();
const MOST_KNOWN = 10_000;
const LONGEST_KNOWN = 2_000;

/** What may be the name of a column, in lower case. */
function* namesIn({ texts }: Sql): Generator<string> {
  for (const text of texts) yield* namesInText(text);
}

function namesInText(text: string): readonly string[] {
  let names = known.get(text);
  if (names !== undefined) return names;
  names = [...readNames(text)];
  if (text.length > LONGEST_KNOWN) return names;
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, names);
  return names;
}

function readNames(text: string): Set<string> {
  const names = new Set<string>();
  for (const [token, quoted] of text.matchAll(tokens)) {
    if (quoted !== undefined) names.add(quoted.replaceAll('""', '"').toLowerCase());
    else if (!token.startsWith("'")) names.add(token.toLowerCase());
  }
  return names;
}
