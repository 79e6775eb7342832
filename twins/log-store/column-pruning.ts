/**
 * Column pruning (projection pushdown) before DuckDB sees a statement. Nested SELECTs name all columns at each level, and DuckDB plans
 * them all before it finds that nothing reads them, which can take longer than the rest of the statement.
 *
 * A column is read by its name, or through a `*` whose reader names it. So a column whose name occurs nowhere, except in columns that
 * are pruned themselves, is removed wherever it is defined. Names alone decide, not what they refer to: all sides of a UNION lose the
 * same columns, and an unrelated use of a name can only keep a column too many.
 */
import { databaseName, identifier, joined, type OptionalPart, type Place, Sql, sql } from "./sql.ts";

/** An expression that yields several rows for one: its column must stay. */
const setReturning = /\b(unnest|generate_subscripts|generate_series|range)\s*\(/iu;

/**
 * The columns of a SELECT that `pruneColumns` may prune. The SELECT must have no GROUP BY or DISTINCT, and its readers must name
 * the columns.
 * @param always columns that stay, with their names
 */
export function prunableColumns(
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
    return item.texts.some((text) => setReturning.test(text))
      ? whole
      : part({ column, readsTables: false }, whole);
  });
  return sql`${joined(items, "")}${joined(always, ", ")}`;
}

/** One such column, with a comma after it, whose value reads columns of a table alone. */
export function prunableTableColumn(column: string, value: Sql): Sql {
  return part({ column, readsTables: true }, sql`${value} AS ${identifier(column)}, `);
}

/** SQL that reads tables alone: its names keep no column of the same name in another SELECT. */
export function tableScope(read: Sql): Sql {
  return read.optional.length > 0 ? read : part({ column: undefined, readsTables: true }, read);
}

function part(of: Pick<OptionalPart, "column" | "readsTables">, { texts, values, cached }: Sql): Sql {
  const end = { text: texts.length - 1, at: texts.at(-1)?.length ?? 0 };
  return new Sql(texts, values, [{ ...of, start: beginning, end }], cached);
}

const beginning: Place = { text: 0, at: 0 };

/** Prunes a whole statement. */
export function pruneColumns(statement: Sql): Sql {
  if (statement.optional.length === 0) return statement;
  const { texts, values } = joined(
    readPieces(statement, []).map((piece) => piece.sql),
    "",
  );
  return new Sql(texts, values, [], statement.cached);
}

/**
 * Prunes a subquery whose readers use these columns alone. What remains can still be pruned with the whole statement.
 */
export function pruneTo(columns: readonly string[], statement: Sql): Sql {
  const pieces = readPieces(statement, columns).map(({ column, readsTables, sql: piece }) =>
    column === undefined && !readsTables ? piece : part({ column, readsTables }, piece),
  );
  const { texts, values, optional } = joined(pieces, "");
  return new Sql(texts, values, optional, statement.cached);
}

/** @param given columns that count as read */
function readPieces(statement: Sql, given: readonly string[]): Piece[] {
  const pieces = piecesOf(statement);
  const givers = new Map<string, Piece[]>();
  const unread = pieces.filter(({ column }) => column === undefined);
  for (const piece of pieces) {
    if (piece.column === undefined) continue;
    const others = givers.get(piece.column);
    if (others === undefined) givers.set(piece.column, [piece]);
    else others.push(piece);
  }
  const read = new Set<string>();
  const readAll = (names: Iterable<string>) => {
    for (const name of names) {
      if (read.has(name)) continue;
      read.add(name);
      unread.push(...(givers.get(name) ?? []));
    }
  };
  readAll(given.map((name) => databaseName(name).toLowerCase()));
  for (let piece = unread.pop(); piece !== undefined; piece = unread.pop()) {
    if (!piece.readsTables) readAll(namesIn(piece.sql));
  }
  return pieces.filter(({ column }) => column === undefined || read.has(column));
}

interface Piece {
  /** In lower case. */
  readonly column: string | undefined;
  readonly readsTables: boolean;
  readonly sql: Sql;
}

/** The prunable parts, and the text between them. */
function piecesOf(statement: Sql): Piece[] {
  const pieces: Piece[] = [];
  let from: Place = { text: 0, at: 0 };
  const unknown = (end: Place) => {
    pieces.push({ column: undefined, readsTables: false, sql: between(statement, from, end) });
  };
  for (const { column, readsTables, start, end } of statement.optional) {
    unknown(start);
    const name = column === undefined ? undefined : databaseName(column).toLowerCase();
    pieces.push({ column: name, readsTables, sql: between(statement, start, end) });
    from = end;
  }
  const text = statement.texts.length - 1;
  unknown({ text, at: statement.texts[text]?.length ?? 0 });
  return pieces;
}

function between({ texts, values }: Sql, start: Place, end: Place): Sql {
  if (start.text === end.text) return new Sql([(texts[start.text] ?? "").slice(start.at, end.at)], []);
  const inside = texts
    .slice(start.text, end.text + 1)
    .map((text, index) =>
      text.slice(index === 0 ? start.at : 0, index === end.text - start.text ? end.at : undefined),
    );
  return new Sql(inside, values.slice(start.text, end.text));
}

const tokens = /'(?:[^']|'')*'|"((?:[^"]|"")*)"|[a-z_][a-z_0-9]*/giu;

/** Names in texts that recur in every search, such as the columns of events; emptied when full. */
const knownNames = new Map<string, readonly string[]>();
const MAX_KNOWN_TEXTS = 10_000;
const MAX_KNOWN_LENGTH = 2_000;

/** Every token that may be the name of a column, in lower case. */
function* namesIn({ texts }: Sql): Generator<string> {
  for (const text of texts) yield* namesInText(text);
}

function namesInText(text: string): readonly string[] {
  let names = knownNames.get(text);
  if (names !== undefined) return names;
  names = [...readNames(text)];
  if (text.length > MAX_KNOWN_LENGTH) return names;
  if (knownNames.size >= MAX_KNOWN_TEXTS) knownNames.clear();
  knownNames.set(text, names);
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
