/** `terms`, `terms_set` and `ids`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-terms-query.html */
import type { JsonPath } from "../compiled-query.ts";
import { illegalArgument, parsingError, shardError } from "../errors.ts";
import {
  common,
  commonOf,
  fieldBody,
  ignored,
  isScalar,
  type OptionReader,
  readOptions,
  required,
  text,
} from "./options.ts";
import { isObject, type Parser } from "./parser.ts";
import type { IdsQuery, Scalar, TermsQuery, TermsSetQuery } from "./query.ts";

/** `index.max_terms_count` */
const MAX_TERMS = 65_536;

const beside = readOptions<typeof common>;

export function readTerms(parser: Parser, json: Record<string, unknown>, path: JsonPath): TermsQuery {
  const { boost, _name, ...rest } = json;
  const [field, second] = Object.keys(rest);
  if (field === undefined) {
    throw parsingError(
      "[terms] query requires a field name, followed by array of terms or a document lookup specification",
      parser.at(path),
    );
  }
  if (second !== undefined) {
    throw parsingError("[terms] query does not support multiple fields", parser.at([...path, second]));
  }
  const values = rest[field];
  if (isObject(values)) {
    throw illegalArgument(
      `[terms] lookup of terms in another document is not supported: write the values of [${field}] themselves`,
    );
  }
  if (!Array.isArray(values)) {
    throw parsingError(`[terms] query does not support [${field}]`, parser.at([...path, field]));
  }
  if (values.length > MAX_TERMS) throw tooManyTerms(values.length);
  const written = { ...(boost !== undefined && { boost }), ...(_name !== undefined && { _name }) };
  return {
    kind: "terms",
    field,
    values: values.map((value) => scalarOf(parser, value, [...path, field])),
    ...commonOf(beside(parser, written, path, "terms", common)),
  };
}

function tooManyTerms(count: number) {
  return shardError(
    `failed to create query: The number of terms [${count}] used in the Terms Query request has exceeded the allowed maximum of [${MAX_TERMS}]. This maximum can be set by changing the [index.max_terms_count] index level setting.`,
  );
}

function scalarOf(parser: Parser, value: unknown, path: JsonPath): Scalar {
  if (isScalar(value)) return value;
  if (value === null) throw parsingError("No value specified for terms query", parser.at(path));
  throw parsingError("[terms] query does not support nested values", parser.at(path));
}

const termsSetReaders = {
  terms: ((value, { parser, path }) =>
    (Array.isArray(value) ? value : [value]).map((item) =>
      scalarOf(parser, item, path),
    )) satisfies OptionReader<Scalar[]>,
  minimum_should_match_field: text,
  minimum_should_match_script: ignored,
  minimum_should_match: ignored,
  ...common,
};

export function readTermsSet(parser: Parser, json: Record<string, unknown>, path: JsonPath): TermsSetQuery {
  const { field, body, path: at } = fieldBody(parser, json, path, "terms_set");
  if (!isObject(body)) throw parser.unsupported("terms_set", field, at);
  const options = readOptions(parser, body, at, "terms_set", termsSetReaders);
  if (options.minimum_should_match_script !== undefined) {
    throw illegalArgument(
      "[terms_set] scripts are not run: name a field that holds the number with [minimum_should_match_field]",
    );
  }
  return {
    kind: "terms_set",
    field,
    terms: required(options.terms, "No terms specified for terms_set query"),
    minimumField: required(
      options.minimum_should_match_field,
      "No minimum should match has been specified for terms_set query",
    ),
    ...commonOf(options),
  };
}

const idsReaders = {
  values: ((value, place) =>
    (Array.isArray(value) ? value : [value]).map((item) => text(item, place))) satisfies OptionReader<
    string[]
  >,
  type: ignored,
  ...common,
};

export function readIds(parser: Parser, json: Record<string, unknown>, path: JsonPath): IdsQuery {
  if (json.values === null || isObject(json.values)) {
    const reason = `[ids] values doesn't support values of type: ${json.values === null ? "VALUE_NULL" : "START_OBJECT"}`;
    throw parser.contentAt(reason, [...path, "values"]);
  }
  const options = readOptions(parser, json, path, "ids", idsReaders, (_, clause, option, at) =>
    parser.unknownField(clause, option, Object.keys(idsReaders), at),
  );
  return {
    kind: "ids",
    values: options.values ?? [],
    ...commonOf(options),
  };
}
