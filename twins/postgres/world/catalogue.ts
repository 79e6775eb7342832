/** The tables and sequences, read from Postgres' own catalogue, since the code under test may have made some of them. */
import pg from "pg";
import type { ValueType } from "./values.ts";

export interface Column {
  name: string;
  value: ValueType;
  /** The type as SQL, with its limits: `character varying(20)`. */
  typeName: string;
  /** The type as SQL, without limits, for casts: a cast with limits would truncate a value instead of refusing it. */
  castName: string;
  notNull: boolean;
  /** SQL of the default; undefined when there is none. */
  defaultSql: string | undefined;
  /** The default's value as text, when it is a constant. */
  defaultText: string | undefined;
  /** Computed from other columns, and so never written. */
  generated: boolean;
  identity: boolean;
  enumLabels: string[] | null;
  comment: string | null;
}

/** Whether a new row has to bring the column. */
export function isRequired(column: Column): boolean {
  return column.notNull && column.defaultSql === undefined && !column.identity && !column.generated;
}

export interface ForeignKey {
  name: string;
  columns: string[];
  table: string;
  target: string;
  targetColumns: string[];
  /** Whether a referenced row cannot be removed (NO ACTION, RESTRICT), instead of cascading to its referrers. */
  keepsTarget: boolean;
}

export interface Table {
  /** In the world: `schema.table`, and without the schema in `public`. */
  name: string;
  /** Quoted for SQL. */
  sql: string;
  comment: string | null;
  /** Whether its rows are in partitions. Rows of any other table are its own, whatever inherits from it. */
  partitioned: boolean;
  columns: Column[];
  primaryKey: string[];
  /** Columns of each primary key and unique constraint. */
  uniques: { name: string; columns: string[] }[];
  foreignKeys: ForeignKey[];
  checks: { name: string; columns: string[]; sql: string }[];
  /** The application's enabled triggers. */
  triggers: { name: string; mode: string }[];
  /** The sequences, by their names in the world, from which its columns' defaults take numbers. */
  sequences: string[];
  /** Whether a default calls a function of the application, which may take numbers from any sequence. */
  defaultsCallFunctions: boolean;
}

export interface Sequence {
  name: string;
  sql: string;
}

export interface Catalogue {
  tables: Map<string, Table>;
  sequences: Sequence[];
}

interface CatalogueRow extends Omit<Table, "name" | "sql" | "columns" | "foreignKeys" | "sequences"> {
  schema: string;
  table: string;
  columns: (Omit<Column, "value" | "defaultSql" | "defaultText"> & {
    type: string;
    elementType: string | null;
    delimiter: string | null;
    defaultSql: string | null;
    constant: boolean | null;
  })[];
  foreignKeys: (Omit<ForeignKey, "table" | "target"> & { schema: string; table: string })[];
  sequences: { schema: string; sequence: string }[];
}

const worldSchemas = `n.nspname NOT LIKE 'pg\\_%' AND n.nspname NOT IN ('information_schema', 'offhook_watch')`;
const columnNames = (relation: string, numbers: string) =>
  `(SELECT json_agg(a.attname ORDER BY k.position) FROM unnest(${numbers}) WITH ORDINALITY AS k(number, position)
      JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = k.number)`;

const tablesSql = `
SELECT n.nspname AS schema, c.relname AS "table", c.relkind = 'p' AS partitioned, obj_description(c.oid, 'pg_class') AS comment,
  coalesce((SELECT json_agg(json_build_object(
      'name', a.attname, 'type', base.typname, 'elementType', element.typname, 'delimiter', element.typdelim,
      'typeName', format_type(a.atttypid, a.atttypmod), 'castName', format_type(a.atttypid, -1),
      'notNull', a.attnotnull, 'generated', a.attgenerated <> '', 'identity', a.attidentity <> '',
      'defaultSql', pg_get_expr(d.adbin, d.adrelid),
      'constant', d.adbin::text LIKE '{CONST %',
      'enumLabels', (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = base.oid),
      'comment', col_description(c.oid, a.attnum)) ORDER BY a.attnum)
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_type base ON base.oid = CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END
    LEFT JOIN pg_type element ON element.oid = base.typelem AND base.typcategory = 'A'
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '[]') AS columns,
  coalesce((SELECT ${columnNames("c.oid", "o.conkey")} FROM pg_constraint o WHERE o.conrelid = c.oid AND o.contype = 'p'), '[]') AS "primaryKey",
  coalesce((SELECT json_agg(json_build_object('name', o.conname, 'columns', ${columnNames("c.oid", "o.conkey")}) ORDER BY o.conname)
    FROM pg_constraint o WHERE o.conrelid = c.oid AND o.contype IN ('p', 'u')), '[]') AS uniques,
  coalesce((SELECT json_agg(json_build_object('name', o.conname, 'columns', ${columnNames("c.oid", "o.conkey")},
      'schema', tn.nspname, 'table', tc.relname, 'keepsTarget', o.confdeltype IN ('a', 'r'), 'targetColumns', ${columnNames("tc.oid", "o.confkey")}) ORDER BY o.conname)
    FROM pg_constraint o JOIN pg_class tc ON tc.oid = o.confrelid JOIN pg_namespace tn ON tn.oid = tc.relnamespace
    WHERE o.conrelid = c.oid AND o.contype = 'f'), '[]') AS "foreignKeys",
  coalesce((SELECT json_agg(json_build_object('name', o.conname, 'columns', coalesce(${columnNames("c.oid", "o.conkey")}, '[]'),
      'sql', pg_get_expr(o.conbin, o.conrelid)) ORDER BY o.conname)
    FROM pg_constraint o WHERE o.conrelid = c.oid AND o.contype = 'c'), '[]') AS checks,
  coalesce((SELECT json_agg(json_build_object('name', g.tgname, 'mode', g.tgenabled))
    FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D'
     AND g.tgname NOT LIKE 'offhook\\_watch\\_%'), '[]') AS triggers,
  coalesce((SELECT json_agg(json_build_object('schema', sn.nspname, 'sequence', s.relname))
    FROM pg_class s JOIN pg_namespace sn ON sn.oid = s.relnamespace WHERE s.relkind = 'S' AND s.oid IN (
      SELECT u.refobjid FROM pg_attrdef d JOIN pg_depend u ON u.classid = 'pg_attrdef'::regclass AND u.objid = d.oid
       WHERE d.adrelid = c.oid AND u.refclassid = 'pg_class'::regclass
      UNION SELECT u.objid FROM pg_depend u WHERE u.classid = 'pg_class'::regclass
        AND u.refclassid = 'pg_class'::regclass AND u.refobjid = c.oid AND u.deptype = 'i')), '[]') AS sequences,
  EXISTS (SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND (t.typtype = 'd' AND t.typdefault IS NOT NULL
        OR EXISTS (SELECT FROM pg_depend u WHERE u.classid = 'pg_attrdef'::regclass AND u.objid = d.oid
             AND u.refclassid = 'pg_proc'::regclass))) AS "defaultsCallFunctions"
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't' AND ${worldSchemas}
ORDER BY n.nspname <> 'public', n.nspname, c.oid`;

const sequencesSql = `
SELECT n.nspname AS schema, c.relname AS sequence
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'S' AND c.relpersistence <> 't' AND ${worldSchemas} ORDER BY n.nspname, c.relname`;

export type Queryable = Pick<pg.ClientBase, "query">;

export async function readCatalogue(client: Queryable): Promise<Catalogue> {
  const { rows } = await client.query<CatalogueRow>(tablesSql);
  const sequences = await client.query<{ schema: string; sequence: string }>(sequencesSql);
  const tables = rows.map(tableOf);
  await readConstantDefaults(client, rows, tables);
  return {
    tables: new Map(tables.map((table) => [table.name, table])),
    sequences: sequences.rows.map(({ schema, sequence }) => ({
      name: worldName(schema, sequence),
      sql: sqlName(schema, sequence),
    })),
  };
}

/** The sequences from which a write may take numbers. A trigger may take them from any. */
export function sequencesUsed(
  { tables, sequences }: Catalogue,
  inserted: readonly Table[],
): readonly Sequence[] {
  const hasTriggers = [...tables.values()].some(({ triggers }) => triggers.length > 0);
  if (hasTriggers || inserted.some((table) => table.defaultsCallFunctions)) return sequences;
  const named = new Set(inserted.flatMap((table) => table.sequences));
  return sequences.filter(({ name }) => named.has(name));
}

export function worldName(schema: string, relation: string): string {
  return schema === "public" ? relation : `${schema}.${relation}`;
}

function sqlName(schema: string, relation: string): string {
  return `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(relation)}`;
}

function tableOf(row: CatalogueRow): Table {
  return {
    ...row,
    name: worldName(row.schema, row.table),
    sql: sqlName(row.schema, row.table),
    columns: row.columns.map((column) => ({
      ...column,
      value: valueType(column.type, column.elementType, column.delimiter),
      defaultSql: column.defaultSql ?? undefined,
      defaultText: undefined,
    })),
    foreignKeys: row.foreignKeys.map((key) => ({
      ...key,
      table: worldName(key.schema, key.table),
      target: sqlName(key.schema, key.table),
    })),
    sequences: row.sequences.map(({ schema, sequence }) => worldName(schema, sequence)),
  };
}

/** Type names as in `pg_type`. */
export function valueType(type: string, elementType: string | null, delimiter: string | null): ValueType {
  if (elementType !== null && delimiter === ",") {
    return { kind: "array", element: valueType(elementType, null, null) };
  }
  switch (type) {
    case "bool":
      return { kind: "boolean" };
    case "int2":
    case "int4":
    case "oid":
      return { kind: "integer" };
    case "float4":
    case "float8":
      return { kind: "float" };
    case "int8":
      return { kind: "bigint" };
    case "numeric":
      return { kind: "decimal" };
    case "json":
    case "jsonb":
      return { kind: type };
    case "timestamp":
    case "timestamptz":
      return { kind: "timestamp" };
    default:
      return { kind: "text" };
  }
}

/** A constant default may be evaluated to show its value; any other (`now()`, `nextval(…)`) is shown as its SQL. */
async function readConstantDefaults(client: Queryable, rows: CatalogueRow[], tables: Table[]): Promise<void> {
  const found = rows.flatMap((row, t) =>
    row.columns.flatMap((column, c) =>
      column.constant && column.defaultSql ? [{ t, c, sql: column.defaultSql }] : [],
    ),
  );
  if (found.length === 0) return;
  const { rows: answers } = await client.query<(string | null)[]>({
    text: `SELECT ${found.map(({ sql }) => `(${sql})::text`).join(", ")}`,
    rowMode: "array",
  });
  for (const [i, { t, c }] of found.entries()) {
    const column = tables[t]?.columns[c];
    const text = answers[0]?.[i];
    if (column && typeof text === "string") column.defaultText = text;
  }
}
