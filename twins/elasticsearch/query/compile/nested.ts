/**
 * `nested`: runs a query on each object of an array. The objects are extracted from `_source` into CTEs that shadow the tables of the
 * documents, with postings and statistics of their own, so that the inner query compiles unchanged.
 */

import { columnTypeOf, type Field, FieldCatalog, fieldKey } from "@offhook/log-store/fields";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { termsSql } from "@offhook/log-store/text/analysis";
import { shardError } from "../errors.ts";
import { explanation } from "../score/explain.ts";
import type { NestedQuery } from "../syntax/query.ts";
import type { Compiler } from "./compiler.ts";
import { type Matcher, nothing, scoredRows } from "./matcher.ts";

export function compileNested(compiler: Compiler, query: NestedQuery, boost: number): Matcher {
  compiler.count(1);
  const { allFields = compiler.context.fields } = compiler.context;
  const within = allFields.all().filter(({ name }) => name.startsWith(`${query.path}.`));
  const fields = within.filter(({ mapping }) => (mapping?.nestedIn ?? query.path) === query.path);
  if (fields.length === 0) {
    if (query.ignoreUnmapped) return nothing;
    throw shardError(
      `failed to create query: [nested] failed to find nested object under path [${query.path}]`,
    );
  }
  const catalog = new FieldCatalog(fields, undefined);
  // The cached statistics are of the documents, not of the objects.
  const { termStatistics: _, ...context } = compiler.context;
  const inside = compiler.inner({
    ...context,
    fields: catalog,
    allFields: new FieldCatalog(within, undefined),
  });
  const inner = inside.compile(query.query, boost);
  const tables = tablesOf(query.path, fields);
  const parents = (rows: Sql) => sql`SELECT d._parent FROM documents AS d WHERE ${rows}`;
  const mode = query.scoreMode;
  const score = mode === "none" ? raw("0::FLOAT") : sql`CAST(${raw(mode)}(CAST(s.score AS DOUBLE)) AS FLOAT)`;
  const rows = sql`(WITH ${tables} SELECT d._parent AS _row, ${score} AS score
    FROM (${scoredRows(inner)}) AS s JOIN documents AS d ON d._row = s._row GROUP BY d._parent)`;
  return {
    predicate: sql`d._row IN (WITH ${tables} ${parents(inner.predicate)})`,
    score: { kind: "ranked", rows },
    async explain(ask, row) {
      const [found] = await ask(sql`SELECT score FROM ${rows} WHERE _row = ${row}`);
      return explanation(
        Number(found?.[0] ?? 0),
        `Score based on child docs of [${query.path}], best match first`,
      );
    },
  };
}

/** CTEs: the objects as `documents`, and the postings of their texts. */
function tablesOf(path: string, fields: readonly Field[]): Sql {
  const columns = fields.map(
    (field) => sql`${columnSql(field, field.name.slice(path.length + 1))} AS ${identifier(field.column)}`,
  );
  const object = jsonPath(path);
  const documents = sql`documents AS MATERIALIZED (
    SELECT row_number() OVER () AS _row, _row AS _parent, _id, _index, ${joined(columns, ", ")}
    FROM (SELECT _row, _id, _index, unnest(CASE WHEN json_type(_source, ${object}) = 'ARRAY'
            THEN CAST(json_extract(_source, ${object}) AS JSON[]) ELSE [json_extract(_source, ${object})] END) AS object
          FROM main.documents WHERE json_type(_source, ${object}) IN ('ARRAY', 'OBJECT')))`;
  const postings = fields.flatMap((field) =>
    field.postings === undefined ? [] : [sql`${identifier(field.postings)} AS (${postingsSql(field)})`],
  );
  const counted = fields.flatMap((field) =>
    field.postings === undefined
      ? []
      : [
          sql`SELECT CAST(${fieldKey(field)} AS VARCHAR) AS field, count(DISTINCT _row) AS documents, count(*) AS tokens FROM ${identifier(field.postings)}`,
        ],
  );
  const statistics =
    counted.length === 0 ? [] : [sql`field_statistics AS (${joined(counted, " UNION ALL ")})`];
  return joined([documents, ...postings, ...statistics], ", ");
}

function columnSql({ type, multi }: Field, name: string): Sql {
  const path = jsonPath(name);
  const column = columnTypeOf({ type, multi });
  if (!multi) return sql`TRY_CAST(json_extract_string(object, ${path}) AS ${column})`;
  const values = sql`CASE json_type(object, ${path}) WHEN 'ARRAY' THEN CAST(json_extract(object, ${path}) AS VARCHAR[])
    WHEN 'NULL' THEN NULL ELSE [json_extract_string(object, ${path})] END`;
  return sql`CASE WHEN json_exists(object, ${path}) THEN TRY_CAST(${values} AS ${column}) END`;
}

function postingsSql(field: Field): Sql {
  const column = identifier(field.column);
  const text = field.multi ? sql`array_to_string(${column}, ' ')` : column;
  return sql`SELECT term, _row, position, length,
      CASE WHEN row_number() OVER (PARTITION BY _row, term ORDER BY position) = 1
        THEN count(*) OVER (PARTITION BY _row, term) ELSE 0 END AS frequency
    FROM (SELECT _row, unnest(terms) AS term, generate_subscripts(terms, 1) AS position, len(terms) AS length
          FROM (SELECT _row, ${termsSql(text)} AS terms FROM documents WHERE ${column} IS NOT NULL))`;
}

/** `a.b` as a JSON path of DuckDB. */
function jsonPath(name: string): string {
  return `$${name
    .split(".")
    .map((step) => `."${step.replaceAll('"', '\\"')}"`)
    .join("")}`;
}
