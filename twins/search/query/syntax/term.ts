/** `term`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-term-query.html */
import type { JsonPath } from "../compiled-query.ts";
import { parsingError } from "../errors.ts";
import { common, commonOf, flag, readFieldOptions, required, scalar } from "./options.ts";
import type { Parser } from "./parser.ts";
import type { TermQuery } from "./query.ts";

const readers = { value: scalar, term: scalar, case_insensitive: flag, ...common };

export function readTerm(parser: Parser, json: Record<string, unknown>, path: JsonPath): TermQuery {
  const array = Object.entries(json).find(([, value]) => Array.isArray(value));
  if (array) {
    throw parsingError("[term] query does not support array of values", parser.at([...path, array[0]]));
  }
  const { field, options } = readFieldOptions(parser, json, path, "term", "value", readers);
  return {
    kind: "term",
    field,
    value: required(options.value ?? options.term, "value cannot be null"),
    caseInsensitive: options.case_insensitive ?? false,
    ...commonOf(options),
  };
}
