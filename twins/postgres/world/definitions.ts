/**
 * The definitions of a database, as SQL that recreates them: so a snapshot includes the tables that the code under test has created,
 * changed or dropped since the start, and a reset restores them.
 *
 * Covered are schemas, types, sequences, functions, tables with their constraints, indexes and triggers, views and comments. Policies,
 * rules, grants, extensions and aggregates stay as at the start.
 */

import type { Problem, Row, TableDescription } from "@offhook/platform/world/world";
import pg from "pg";
import type { Queryable } from "./catalogue.ts";

export const definitionTableName = "pg_definitions";

export const definitionTable: TableDescription = {
  name: definitionTableName,
  description:
    "The differences of definition from the start: objects created, changed or dropped since. A reset takes its rows from a snapshot; they cannot be written one by one.",
  key: "object",
  columns: [
    { name: "object", type: "text", required: true, description: "What it is, and its name." },
    {
      name: "definition",
      type: "text",
      required: false,
      description: "The statement that makes it; null when it has been dropped.",
    },
  ],
};

/** One object of the database. */
export interface Definition {
  /** Its kind and name: `table public.notes`. */
  object: string;
  /** The statement that creates it. */
  definition: string;
  /** The statement that removes it. */
  removal: string;
}

/** A difference from the start: the definition of an object, or `null` when it has been dropped. */
export type DefinitionChange = Pick<Definition, "object"> & { definition: string | null };

const ours = (schema: string) =>
  `${schema} NOT LIKE 'pg\\_%' AND ${schema} NOT IN ('information_schema', 'offhook_watch')`;
const notOfExtension = (catalogue: string, oid: string) =>
  `NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = '${catalogue}'::regclass AND e.objid = ${oid} AND e.deptype = 'e')`;
const name = "format('%I.%I', n.nspname, c.relname)";
const relations = `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND ${ours("n.nspname")}
  AND c.relpersistence <> 't' AND ${notOfExtension("pg_class", "c.oid")}`;
const sequenceOptions = `format('AS %s INCREMENT BY %s MINVALUE %s MAXVALUE %s START WITH %s CACHE %s%s',
  format_type(q.seqtypid, NULL), q.seqincrement, q.seqmin, q.seqmax, q.seqstart, q.seqcache, CASE WHEN q.seqcycle THEN ' CYCLE' ELSE '' END)`;
const isIdentity = (sequence: string) =>
  `EXISTS (SELECT FROM pg_depend i WHERE i.classid = 'pg_class'::regclass AND i.objid = ${sequence} AND i.deptype = 'i')`;

const columnSql = `format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
  || CASE WHEN a.attcollation <> 0 AND a.attcollation <> t.typcollation
     THEN (SELECT format(' COLLATE %I.%I', cn.nspname, co.collname) FROM pg_collation co JOIN pg_namespace cn ON cn.oid = co.collnamespace WHERE co.oid = a.attcollation) ELSE '' END
  || CASE
     WHEN a.attgenerated = 's' THEN format(' GENERATED ALWAYS AS (%s) STORED', pg_get_expr(d.adbin, d.adrelid))
     WHEN a.attgenerated <> '' THEN format(' GENERATED ALWAYS AS (%s) VIRTUAL', pg_get_expr(d.adbin, d.adrelid))
     WHEN a.attidentity <> '' THEN (SELECT format(' GENERATED %s AS IDENTITY (SEQUENCE NAME %I.%I %s)',
          CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, sn.nspname, s.relname,
          regexp_replace(${sequenceOptions}, '^AS [a-z]+ ', ''))
        FROM pg_depend i JOIN pg_class s ON s.oid = i.objid AND s.relkind = 'S' JOIN pg_namespace sn ON sn.oid = s.relnamespace
        JOIN pg_sequence q ON q.seqrelid = s.oid
        WHERE i.refclassid = 'pg_class'::regclass AND i.refobjid = a.attrelid AND i.refobjsubid = a.attnum AND i.deptype = 'i')
     WHEN d.adbin IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END
  || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END`;
const columns = (
  separator: string,
) => `(SELECT string_agg(${columnSql}, '${separator}' ORDER BY a.attnum) FROM pg_attribute a
  JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)`;

/** Kinds of objects, in an order in which most can be created. */
const kinds = [
  `SELECT 'schema ' || quote_ident(n.nspname), format('CREATE SCHEMA %I', n.nspname), format('DROP SCHEMA IF EXISTS %I CASCADE', n.nspname)
     FROM pg_namespace n WHERE ${ours("n.nspname")} AND n.nspname <> 'public' AND ${notOfExtension("pg_namespace", "n.oid")}`,
  `SELECT 'type ' || format_type(t.oid, NULL), CASE t.typtype
       WHEN 'e' THEN format('CREATE TYPE %I.%I AS ENUM (%s)', n.nspname, t.typname,
         (SELECT string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid))
       WHEN 'd' THEN format('CREATE DOMAIN %I.%I AS %s%s%s%s', n.nspname, t.typname, format_type(t.typbasetype, t.typtypmod),
         ' DEFAULT ' || t.typdefault, CASE WHEN t.typnotnull THEN ' NOT NULL' ELSE '' END,
         (SELECT string_agg(format(' CONSTRAINT %I %s', o.conname, pg_get_constraintdef(o.oid)), '' ORDER BY o.conname)
            FROM pg_constraint o WHERE o.contypid = t.oid AND o.contype = 'c'))
       ELSE format('CREATE TYPE %I.%I AS (%s)', n.nspname, t.typname,
         (SELECT string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum)
            FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped)) END,
     format('DROP TYPE IF EXISTS %I.%I CASCADE', n.nspname, t.typname)
     FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace AND ${ours("n.nspname")} AND ${notOfExtension("pg_type", "t.oid")}
    WHERE t.typtype IN ('e', 'd') OR t.typtype = 'c' AND EXISTS (SELECT FROM pg_class r WHERE r.oid = t.typrelid AND r.relkind = 'c')`,
  `SELECT 'sequence ' || ${name}, format('CREATE SEQUENCE %s %s', ${name}, ${sequenceOptions}), format('DROP SEQUENCE IF EXISTS %s CASCADE', ${name})
     FROM ${relations} JOIN pg_sequence q ON q.seqrelid = c.oid WHERE NOT ${isIdentity("c.oid")}`,
  `SELECT 'function ' || p.oid::regprocedure, pg_get_functiondef(p.oid), format('DROP ROUTINE IF EXISTS %s CASCADE', p.oid::regprocedure)
     FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND ${ours("n.nspname")} AND ${notOfExtension("pg_proc", "p.oid")}
    WHERE p.prokind IN ('f', 'p', 'w')`,
  `SELECT 'table ' || ${name}, format('CREATE %sTABLE %s ', CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END, ${name})
       || CASE WHEN c.relispartition THEN (SELECT format('PARTITION OF %I.%I %s', pn.nspname, pc.relname, pg_get_expr(c.relpartbound, c.oid))
            FROM pg_inherits h JOIN pg_class pc ON pc.oid = h.inhparent JOIN pg_namespace pn ON pn.oid = pc.relnamespace WHERE h.inhrelid = c.oid)
          ELSE format('(%s)', ${columns(", ")}) || coalesce((SELECT format(' INHERITS (%s)', string_agg(format('%I.%I', pn.nspname, pc.relname), ', ' ORDER BY h.inhseqno))
            FROM pg_inherits h JOIN pg_class pc ON pc.oid = h.inhparent JOIN pg_namespace pn ON pn.oid = pc.relnamespace WHERE h.inhrelid = c.oid HAVING count(*) > 0), '') END
       || CASE WHEN c.relkind = 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(c.oid) ELSE '' END,
     format('DROP TABLE IF EXISTS %s CASCADE', ${name}) FROM ${relations} WHERE c.relkind IN ('r', 'p')`,
  `SELECT format('constraint %I of %s', o.conname, ${name}), format('ALTER TABLE %s ADD CONSTRAINT %I %s', ${name}, o.conname, pg_get_constraintdef(o.oid)),
     format('ALTER TABLE IF EXISTS %s DROP CONSTRAINT IF EXISTS %I CASCADE', ${name}, o.conname)
     FROM pg_constraint o JOIN ${relations} ON c.oid = o.conrelid
    WHERE o.contype IN ('p', 'u', 'x', 'c', 'f') AND o.conparentid = 0 AND o.coninhcount = 0`,
  `SELECT 'index ' || ${name}, pg_get_indexdef(c.oid), format('DROP INDEX IF EXISTS %s CASCADE', ${name}) FROM ${relations}
    WHERE c.relkind IN ('i', 'I') AND NOT EXISTS (SELECT FROM pg_constraint o WHERE o.conindid = c.oid AND o.contype IN ('p', 'u', 'x'))
      AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid)`,
  `SELECT 'view ' || ${name}, format('CREATE %s %s AS %s', CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END, ${name}, pg_get_viewdef(c.oid)),
     format('DROP %s IF EXISTS %s CASCADE', CASE c.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END, ${name})
     FROM ${relations} WHERE c.relkind IN ('v', 'm')`,
  `SELECT format('trigger %I of %s', g.tgname, ${name}), pg_get_triggerdef(g.oid) || CASE g.tgenabled WHEN 'O' THEN '' ELSE format('; ALTER TABLE %s %s TRIGGER %I', ${name},
       CASE g.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE REPLICA' END, g.tgname) END,
     format('DROP TRIGGER IF EXISTS %I ON %s', g.tgname, ${name})
     FROM pg_trigger g JOIN ${relations} ON c.oid = g.tgrelid
    WHERE NOT g.tgisinternal AND g.tgparentid = 0 AND g.tgname NOT LIKE 'offhook\\_watch\\_%'`,
  `SELECT 'owner of sequence ' || ${name}, format('ALTER SEQUENCE %s OWNED BY %I.%I.%I', ${name}, tn.nspname, tc.relname, a.attname),
     format('ALTER SEQUENCE IF EXISTS %s OWNED BY NONE', ${name})
     FROM ${relations} JOIN pg_depend u ON u.classid = 'pg_class'::regclass AND u.objid = c.oid AND u.deptype = 'a' AND u.refobjsubid > 0
     JOIN pg_class tc ON tc.oid = u.refobjid JOIN pg_namespace tn ON tn.oid = tc.relnamespace
     JOIN pg_attribute a ON a.attrelid = tc.oid AND a.attnum = u.refobjsubid WHERE c.relkind = 'S'`,
  `SELECT format('comment on %s%s', ${name}, '.' || quote_ident(a.attname)),
     format('COMMENT ON %s %s%s IS %L', CASE WHEN a.attname IS NOT NULL THEN 'COLUMN' WHEN c.relkind = 'S' THEN 'SEQUENCE' WHEN c.relkind = 'v' THEN 'VIEW'
       WHEN c.relkind = 'm' THEN 'MATERIALIZED VIEW' WHEN c.relkind IN ('i', 'I') THEN 'INDEX' ELSE 'TABLE' END, ${name}, '.' || quote_ident(a.attname), m.description), NULL
     FROM pg_description m JOIN ${relations} ON c.oid = m.objoid AND m.classoid = 'pg_class'::regclass AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'i', 'I')
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = m.objsubid AND m.objsubid > 0`,
];

const definitionsSql = kinds
  .map((kind, i) => `SELECT ${i} AS kind, k.* FROM (${kind}) AS k (object, definition, removal)`)
  .join(" UNION ALL ");

/** Every object, in an order in which most can be created. */
export async function readDefinitions(client: Queryable): Promise<Definition[]> {
  // Postgres omits the schema of names that the search path finds.
  await client.query("SELECT set_config('search_path', '', false)");
  try {
    const { rows } = await client.query<Definition & { removal: string | null }>(
      `SELECT object, definition, removal FROM (${definitionsSql}) AS all_kinds ORDER BY kind, object`,
    );
    return rows.map((row) => ({ ...row, removal: row.removal ?? "" }));
  } finally {
    await client.query("RESET search_path").catch(() => {}); // A failed transaction resets it when it is rolled back.
  }
}

/** The differences from the start. */
export function changesFrom(start: readonly Definition[], now: readonly Definition[]): DefinitionChange[] {
  const before = new Map(start.map(({ object, definition }) => [object, definition]));
  const after = new Set(now.map(({ object }) => object));
  const gone = start.filter(({ object }) => !after.has(object));
  const made = now.filter(({ object, definition }) => before.get(object) !== definition);
  return [
    ...gone.map(({ object }) => ({ object, definition: null })),
    ...made.map(({ object, definition }) => ({ object, definition })),
  ];
}

/** Whether both lead to the same definitions. */
export function areSameChanges(
  one: readonly DefinitionChange[],
  other: readonly DefinitionChange[],
): boolean {
  const definitions = new Map(one.map(({ object, definition }) => [object, definition]));
  return (
    definitions.size === new Set(other.map(({ object }) => object)).size &&
    other.every(({ object, definition }) => definitions.get(object) === definition && definitions.has(object))
  );
}

/** The rows of `pg_definitions` in a body. */
export function readChanges(rows: readonly Row[]): { changes: DefinitionChange[]; problems: Problem[] } {
  const changes: DefinitionChange[] = [];
  const problems: Problem[] = [];
  for (const [row, { object, definition, ...others }] of rows.entries()) {
    const refuse = (column: string, value: unknown, rule: string) =>
      problems.push({ table: definitionTableName, row, column, value, rule });
    for (const [column, value] of Object.entries(others)) {
      refuse(column, value, "there is no such column; the columns are object, definition");
    }
    if (typeof object !== "string") refuse("object", object, "expected text");
    if (typeof definition !== "string" && definition !== null) {
      refuse("definition", definition, "expected a statement, or null for what is not there");
    } else if (typeof object === "string") changes.push({ object, definition });
  }
  return { changes, problems };
}

/**
 * Applies changes to a fresh database. Only Postgres knows how objects depend on one another, so the failed ones are retried as long as
 * others succeed.
 * @param client of the role that owns the tables, with no more rights than the code under test
 * @returns the objects that could not be created
 */
export async function applyChanges(
  client: Queryable,
  start: readonly Definition[],
  changes: readonly DefinitionChange[],
): Promise<Problem[]> {
  const wanted = new Map(start.map(({ object, definition }) => [object, definition]));
  for (const { object, definition } of changes) {
    if (definition === null) wanted.delete(object);
    else wanted.set(object, definition);
  }
  await client.query("BEGIN; SET LOCAL check_function_bodies = off");
  for (const { object, definition, removal } of start) {
    if (wanted.get(object) !== definition && removal !== "") await client.query(removal);
  }
  const present = new Map(
    (await readDefinitions(client)).map(({ object, definition }) => [object, definition]),
  );
  let waiting = [...wanted].filter(([object, definition]) => present.get(object) !== definition);
  let refused: Problem[] = [];
  for (let progress = true; progress && waiting.length > 0; ) {
    const left: typeof waiting = [];
    refused = [];
    for (const one of waiting) {
      const error = await tryCreate(client, one[1]);
      if (!error) continue;
      const [object, definition] = one;
      left.push(one);
      refused.push({
        table: definitionTableName,
        column: "definition",
        value: definition,
        rule: `${object} cannot be made: ${error.message}`,
      });
    }
    progress = left.length < waiting.length;
    waiting = left;
  }
  await client.query(waiting.length > 0 ? "ROLLBACK" : "COMMIT");
  return waiting.length > 0 ? refused : [];
}

async function tryCreate(client: Queryable, statement: string): Promise<pg.DatabaseError | undefined> {
  await client.query("SAVEPOINT one_object");
  try {
    await client.query(statement);
    await client.query("RELEASE SAVEPOINT one_object");
    return undefined;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.severity === "FATAL") throw error;
    await client.query("ROLLBACK TO SAVEPOINT one_object");
    return error;
  }
}
