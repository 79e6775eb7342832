/** `exists`, `wildcard`, `prefix`, `regexp` and `fuzzy`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/term-level-queries.html */
import type { JsonPath } from "../compiled-query.ts";
import { illegalArgument, parsingError } from "../errors.ts";
import { fuzziness } from "./match.ts";
import {
  common,
  commonOf,
  flag,
  integer,
  readFieldOptions,
  readOptions,
  required,
  scalar,
  text,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type { ExistsQuery, FuzzyQuery, PrefixQuery, RegexpQuery, WildcardQuery } from "./query.ts";

export function readExists(parser: Parser, json: Record<string, unknown>, path: JsonPath): ExistsQuery {
  const options = readOptions(parser, json, path, "exists", { field: text, ...common });
  if (options.field === undefined) {
    throw parsingError("[exists] must be provided with a [field]", parser.at(path));
  }
  if (options.field === "") throw illegalArgument("field name is null or empty");
  return { kind: "exists", field: options.field, ...commonOf(options) };
}

const wildcardReaders = {
  value: text,
  wildcard: text,
  case_insensitive: flag,
  rewrite: text,
  ...common,
};

export function readWildcard(parser: Parser, json: Record<string, unknown>, path: JsonPath): WildcardQuery {
  const { field, options } = readFieldOptions(parser, json, path, "wildcard", "value", wildcardReaders);
  return {
    kind: "wildcard",
    field,
    pattern: required(options.value ?? options.wildcard, "value cannot be null"),
    caseInsensitive: options.case_insensitive ?? false,
    rewrite: options.rewrite,
    ...commonOf(options),
  };
}

const prefixReaders = { value: text, prefix: text, case_insensitive: flag, rewrite: text, ...common };

export function readPrefix(parser: Parser, json: Record<string, unknown>, path: JsonPath): PrefixQuery {
  const { field, options } = readFieldOptions(parser, json, path, "prefix", "value", prefixReaders);
  return {
    kind: "prefix",
    field,
    prefix: required(options.value ?? options.prefix, "value cannot be null"),
    caseInsensitive: options.case_insensitive ?? false,
    rewrite: options.rewrite,
    ...commonOf(options),
  };
}

const regexpReaders = {
  value: text,
  flags: text,
  flags_value: integer,
  case_insensitive: flag,
  max_determinized_states: integer,
  rewrite: text,
  ...common,
};

export function readRegexp(parser: Parser, json: Record<string, unknown>, path: JsonPath): RegexpQuery {
  const { field, options } = readFieldOptions(parser, json, path, "regexp", "value", regexpReaders);
  return {
    kind: "regexp",
    field,
    pattern: required(options.value, "value cannot be null"),
    caseInsensitive: options.case_insensitive ?? false,
    rewrite: options.rewrite,
    flags: (options.flags ?? "ALL").toUpperCase(),
    ...commonOf(options),
  };
}

const fuzzyReaders = {
  value: scalar,
  term: scalar,
  fuzziness,
  prefix_length: integer,
  max_expansions: integer,
  transpositions: flag,
  rewrite: text,
  ...common,
};

export function readFuzzy(parser: Parser, json: Record<string, unknown>, path: JsonPath): FuzzyQuery {
  const { field, options } = readFieldOptions(parser, json, path, "fuzzy", "value", fuzzyReaders);
  return {
    kind: "fuzzy",
    field,
    value: required(options.value ?? options.term, "query value cannot be null"),
    fuzzy: {
      fuzziness: options.fuzziness ?? "AUTO",
      prefixLength: options.prefix_length ?? 0,
      maxExpansions: options.max_expansions ?? 50,
      transpositions: options.transpositions ?? true,
      rewrite: options.rewrite,
    },
    ...commonOf(options),
  };
}
