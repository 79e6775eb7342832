/** Writes the tables of a store from the staging table: typed columns, events as JSON, postings, the catalog. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { DatasetColumn } from "@offhook/platform/twin/dataset";
import { FieldCatalog, likelyTimeField, type TextIndex } from "../fields.ts";
import { identifier, joined, raw, type Sql, sql, textLiteral } from "../sql.ts";
import { buildSegments } from "../store/build-segments.ts";
import { transaction } from "../store/database.ts";
import { read } from "../store/duckdb.ts";
import { DEFAULT_INDEX } from "../store/format.ts";
import { addFields, checkpoint, createTables, saveCatalog } from "../store/layout.ts";
import { buildPostings } from "../store/postings.ts";
import { isBlankTime } from "./date-candidates.ts";
import { convertedValue, type InferredColumn, inferTypes, stagedColumn } from "./infer.ts";
import { Problems } from "./problems.ts";
import type { RowReader } from "./row-reader.ts";
import { staging } from "./staging-database.ts";

/** `_index` of rows that name none, in a file where others name `DEFAULT_INDEX`: no index can have this name. */
const NO_INDEX = "";

export interface WrittenDocuments {
  rows: number;
  columns: DatasetColumn[];
  timeField: string | null;
  timeRange: { from: string; to: string } | null;
  /** JSON texts of the first events. */
  sample: string[];
}

/** @throws DatasetRefusal for duplicate ids */
export async function writeDocuments(
  connection: DuckDBConnection,
  reader: RowReader,
  rows: number,
  textIndex: TextIndex,
): Promise<WrittenDocuments> {
  const staged = reader.columns.map((column, index) => ({ ...column, column: stagedColumn(index) }));
  const inferred = await inferTypes(connection, staging.table, staged);
  const own = takeOwn(inferred, reader);
  const columns = inferred.filter((column) => column !== own.idColumn && column !== own.indexColumn);
  await refuseDuplicateIds(connection, own);
  await createTables(connection, textIndex);
  const added = columns.map(({ name, multi, candidate, blanks }) => ({
    name,
    multi,
    type: candidate.type,
    ...(candidate.type === "date" && { timeFormat: candidate.name, blanks }),
  }));
  const none = new FieldCatalog([], undefined, textIndex);
  const fields = await transaction(connection, () =>
    addFields(connection, none, added, likelyTimeField(added)),
  );
  const targets = columns.map(({ name }) => identifier(fields.get(name)?.column ?? name));
  const unnamedIndex = await unnamedIndexOf(connection, own);
  const source = reader.hasSource ? staging.source : eventOf(columns);
  const values = [
    raw("rowid"),
    own.id,
    unnamedIndex === undefined
      ? own.givenIndex
      : sql`coalesce(${own.givenIndex}, ${textLiteral(unnamedIndex)})`,
    raw("1"),
    raw("rowid"),
    source,
    ...columns.map(convertedValue),
  ];
  await read(
    connection,
    sql`INSERT INTO documents (${joined([raw("_row, _id, _index, _version, _seq_no, _source"), ...targets], ", ")})
      SELECT ${joined(values, ", ")} FROM ${staging.table}`,
  );
  await read(connection, sql`DROP TABLE ${staging.table}`);
  if (textIndex === "raw") await buildSegments(connection, fields, rows);
  await buildAllPostings(connection, fields);
  await saveCatalog(connection, {
    fields,
    nextRow: rows,
    nextSeqNo: rows,
    ...(unnamedIndex === undefined ? {} : { unnamedIndex }),
  });
  await checkpoint(connection);
  return {
    rows,
    columns: columns.map(({ name, multi, candidate, note }) => ({
      name,
      type: candidate.type,
      multi,
      ...(note === undefined ? {} : { note }),
    })),
    timeField: fields.timeField?.name ?? null,
    timeRange: await timeRangeOf(connection, fields),
    sample: await sampleOf(connection),
  };
}

/** Up to this much text the postings of all fields are built in one transaction, which DuckDB holds in memory. */
const ONE_TRANSACTION_BYTES = 16 << 20;

/** With hundreds of small fields the commits, which wait for the disk, would take most of the time. */
async function buildAllPostings(connection: DuckDBConnection, fields: FieldCatalog): Promise<void> {
  const build = async () => {
    for (const field of fields.all()) await buildPostings(connection, field, 0);
  };
  const { rows } = await read(
    connection,
    raw("SELECT coalesce(sum(strlen(_source)), 0)::DOUBLE FROM documents"),
  );
  const isSmall = Number(rows[0]?.[0]) <= ONE_TRANSACTION_BYTES;
  await (isSmall ? transaction(connection, build) : build());
}

/** The columns `_id` and `_index`, which belong to the document, not to the event. */
interface Own {
  idColumn: InferredColumn | undefined;
  indexColumn: InferredColumn | undefined;
  id: Sql;
  /** NULL when the row names none. */
  givenIndex: Sql;
  /** NULL when the row gives none. Absent: no row can give one. */
  givenId: Sql | undefined;
}

function takeOwn(columns: readonly InferredColumn[], { hasSource }: RowReader): Own {
  const single = (wanted: string) => columns.find(({ name, multi }) => name === wanted && !multi);
  const idColumn = single("_id");
  const indexColumn = single("_index");
  const given = (column: InferredColumn | undefined, ofHit: Sql) =>
    joined(
      [...(hasSource ? [ofHit] : []), ...(column ? [sql`nullif(${column.column}, '')`] : []), raw("NULL")],
      ", ",
    );
  const givenId = given(idColumn, staging.id);
  return {
    idColumn,
    indexColumn,
    id: sql`coalesce(${givenId}, 'row-' || rowid)`,
    givenIndex: sql`coalesce(${given(indexColumn, staging.index)})`,
    givenId: hasSource || idColumn ? sql`coalesce(${givenId})` : undefined,
  };
}

/** The `_index` for rows that name none; `undefined` when all rows name one. */
async function unnamedIndexOf(
  connection: DuckDBConnection,
  { givenIndex }: Own,
): Promise<string | undefined> {
  const { rows } = await read(
    connection,
    sql`SELECT count(*) FILTER (given IS NULL) > 0, count(*) FILTER (given = ${DEFAULT_INDEX}) > 0
      FROM (SELECT ${givenIndex} AS given FROM ${staging.table})`,
  );
  const [unnamed, named] = rows[0] ?? [];
  if (unnamed !== true) return undefined;
  return named === true ? NO_INDEX : DEFAULT_INDEX;
}

/** Ids must be unique per index; that of a row without an index in the whole file, since its index is configured later. */
async function refuseDuplicateIds(
  connection: DuckDBConnection,
  { id, givenIndex, givenId }: Own,
): Promise<void> {
  if (!givenId) return;
  const { rows: given } = await read(connection, sql`SELECT count(${givenId}) FROM ${staging.table}`);
  if (given[0]?.[0] === 0) return;
  const named = sql`SELECT line, ${id} AS id, ${givenIndex} AS name FROM ${staging.table}`;
  const placed = sql`SELECT line, id,
      CASE WHEN bool_or(name IS NULL) OVER (PARTITION BY id) THEN NULL ELSE name END AS place FROM (${named})`;
  const { rows: again } = await read(
    connection,
    sql`SELECT line, id, first FROM
        (SELECT line, id, min(line) OVER same AS first, row_number() OVER same AS number FROM (${placed})
         WINDOW same AS (PARTITION BY place, id ORDER BY line))
      WHERE number > 1 ORDER BY line`,
  );
  const problems = new Problems();
  for (const [line, value, first] of again) {
    problems.add({
      line: Number(line),
      rule: `the id "${String(value).slice(0, 100)}" is that of line ${String(first)} already`,
    });
  }
  problems.refuseAny();
}

/** Composes the event of a row without JSON text: the values that it has, as they were spelled. */
function eventOf(columns: readonly InferredColumn[]): Sql {
  const members = columns.map((column) => {
    const name = textLiteral(`${JSON.stringify(column.name)}:`);
    return sql`${name} || ${spelledValue(column)}`;
  });
  return sql`'{' || concat_ws(',', ${joined(members, ", ")}) || '}'`;
}

function spelledValue({ column, candidate, kinds, blanks }: InferredColumn): Sql {
  const { type } = candidate;
  const quoted = sql`CAST(to_json(${column}) AS VARCHAR)`;
  if (type === "boolean") return sql`lower(${column})`;
  const number = type === "long" || type === "unsigned_long" || type === "double";
  if (number) return column;
  // A time that was written as a number stays one.
  if (type === "date" && isNumeric(candidate.name)) {
    return blanks ? sql`CASE WHEN ${isBlankTime(column)} THEN ${quoted} ELSE ${column} END` : column;
  }
  return kinds.cell ? quoted : column;
}

const isNumeric = (format: string) => format.startsWith("epoch");

async function timeRangeOf(
  connection: DuckDBConnection,
  { timeField }: FieldCatalog,
): Promise<{ from: string; to: string } | null> {
  if (!timeField) return null;
  const column = identifier(timeField.column);
  const [low, high] = timeField.multi
    ? [sql`list_min(${column})`, sql`list_max(${column})`]
    : [column, column];
  const { rows } = await read(connection, sql`SELECT min(${low}), max(${high}) FROM documents`);
  const [from, to] = rows[0] ?? [];
  if (typeof from !== "number" || typeof to !== "number") return null;
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

const SAMPLE_ROWS = 5;
const SAMPLE_BYTES = 16 * 1024;

async function sampleOf(connection: DuckDBConnection): Promise<string[]> {
  const { rows } = await read(
    connection,
    sql`SELECT _source FROM documents WHERE strlen(_source) <= ${raw(String(SAMPLE_BYTES))}
      ORDER BY _row LIMIT ${raw(String(SAMPLE_ROWS))}`,
  );
  return rows.map(([source]) => String(source));
}
