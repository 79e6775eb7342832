/** What a model is told before it translates. */
import { columnTypeOf, type Field, type FieldCatalog } from "../fields.ts";

/** The languages that can be translated. */
export type Language = "esql" | "query-dsl";

/** A dataset can have thousands of fields; a prompt cannot. */
const MOST_FIELDS = 400;

const results: Record<Language, string> = {
  esql: [
    "You translate Elasticsearch ES|QL queries into DuckDB SQL.",
    "Answer with one SELECT whose result has the columns, names and order of the ES|QL query's result. Without a LIMIT add LIMIT 1000.",
  ].join("\n"),
  "query-dsl": [
    "You translate Elasticsearch queries of the Query DSL into DuckDB SQL.",
    "Answer with one SELECT whose result has the single column _row, once for each document that the query matches.",
  ].join("\n"),
};

export function instructionsFor(language: Language, fields: FieldCatalog): string {
  const all = fields.all();
  const shown = all.slice(0, MOST_FIELDS).map(describe);
  if (all.length > MOST_FIELDS) shown.push(`(${all.length - MOST_FIELDS} more fields)`);
  return [
    results[language],
    "Answer with the SQL alone: no explanation, no second statement, no parameters.",
    "The only table is documents, one row an event. The present moment is (SELECT now FROM clock); now() and current_timestamp are not there.",
    'Columns (quote them: "a.b"):',
    "  _row BIGINT, _id VARCHAR, _index VARCHAR, _source VARCHAR (the event as JSON)",
    ...shown,
  ].join("\n");
}

function describe(field: Field): string {
  const { name, column } = field;
  const shown = JSON.stringify(column);
  const alias = column === name ? "" : ` (the field ${JSON.stringify(name)})`;
  return `  ${shown} ${columnTypeOf(field).texts.join("")}${alias}`;
}
