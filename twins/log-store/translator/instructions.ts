/** The system prompt of the translating model. */
import { columnTypeOf, type Field, type FieldCatalog } from "../fields.ts";

/** The languages that can be translated. */
export type Language = "esql" | "query-dsl" | "search-body" | "aggregation";

/** A dataset can have thousands of fields; a prompt cannot. */
const MAX_FIELDS = 400;

const results: Record<Language, string> = {
  esql: [
    "You translate Elasticsearch ES|QL queries into DuckDB SQL.",
    "Answer with one SELECT whose result has the columns, names and order of the ES|QL query's result. Without a LIMIT add LIMIT 1000.",
  ].join("\n"),
  "query-dsl": [
    "You translate Elasticsearch queries of the Query DSL into DuckDB SQL.",
    "Answer with one SELECT whose result has the single column _row, once for each document that the query matches.",
  ].join("\n"),
  "search-body": [
    "You translate bodies of Elasticsearch searches into DuckDB SQL.",
    "Answer with one SELECT whose result has the single column _row, once for each document that the search finds. It does not sort, page or aggregate: that is done with its result.",
  ].join("\n"),
  aggregation: [
    "You translate Elasticsearch aggregations into DuckDB SQL.",
    "Answer with one SELECT over the documents, which are those that the search matches. When the aggregation has buckets, its result is one row a bucket, in their order, with the columns key and doc_count; a key that is a time is in milliseconds since the epoch, and key_as_string beside it. When it has none, its result is one row, whose columns are the members of the aggregation's result, such as value or doc_count.",
    "A sub-aggregation is a column of its name: its value, or a STRUCT of its members, of which buckets is a LIST.",
  ].join("\n"),
};

export function instructionsFor(language: Language, fields: FieldCatalog): string {
  const all = fields.all();
  const shown = all.slice(0, MAX_FIELDS).map(describe);
  if (all.length > MAX_FIELDS) shown.push(`(${all.length - MAX_FIELDS} more fields)`);
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
