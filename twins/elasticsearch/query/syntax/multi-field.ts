/** Queries on several fields: `multi_match`, `query_string` and `simple_query_string`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/full-text-queries.html */
import type { ContentParser } from "../../json/content-parser.ts";
import { javaNumber, numberFormatError } from "../../json/java-number.ts";
import { illegalArgument, VendorError } from "../../vendor/error.ts";
import { conversionError } from "../errors.ts";
import { fuzziness } from "./fuzziness.ts";
import { defaultMatch, operator, wordsOptions, wordsReaders } from "./match.ts";
import { slopOf } from "./match-phrase.ts";
import {
  common,
  commonOf,
  eachMember,
  flag,
  float,
  integer,
  type OptionReader,
  type Options,
  OptionTable,
  oneOf,
  positiveBoost,
  text,
  unknownToken,
  unsupported,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type {
  MultiMatchQuery,
  MultiMatchType,
  QueryStringQuery,
  SimpleQueryStringQuery,
  WeightedField,
} from "./query.ts";

/** `message^2` */
function weightedField(written: string, clause: string): WeightedField {
  const caret = written.indexOf("^");
  if (caret < 0) return { pattern: written, boost: 1 };
  const boost = javaNumber(written.slice(caret + 1));
  if (boost === undefined) throw numberFormatError(written.slice(caret + 1));
  return { pattern: written.slice(0, caret), boost: positiveBoost(Math.fround(boost), clause) };
}

/** Reads a list of texts, or one text. */
function writtenFields(content: ContentParser): string[] {
  if (content.token !== "START_ARRAY") return [content.text()];
  const written: string[] = [];
  while (content.next() !== "END_ARRAY") written.push(content.text());
  return written;
}

/** `["message^2", "error.*"]`, or one as a string. For a repeated field the last boost counts. */
const fields: OptionReader<WeightedField[]> = (content) => {
  const weighted = writtenFields(content).map((written) => weightedField(written, "multi_match"));
  const boosts = new Map(weighted.map(({ pattern, boost }) => [pattern, boost]));
  return [...boosts].map(([pattern, boost]) => ({ pattern, boost }));
};

/**
 * For a repeated field the last boost counts, except when it is absent: the vendor's reader compares the name including its boost.
 */
const stringFields: OptionReader<WeightedField[]> = (content) => {
  const boosts = new Map<string, number>();
  for (const written of writtenFields(content)) {
    const { pattern, boost } = weightedField(written, "query_string");
    boosts.set(pattern, boost * (boosts.get(written) ?? 1));
  }
  return [...boosts].map(([pattern, boost]) => ({ pattern, boost }));
};

const types: readonly MultiMatchType[] = [
  "best_fields",
  "most_fields",
  "cross_fields",
  "phrase",
  "phrase_prefix",
  "bool_prefix",
];
const type = oneOf(types, (written) => {
  const reason = `failed to parse [multi_match] query type [${written}]. unknown type.`;
  return new VendorError(400, { type: "parse_exception", reason });
});

const multiMatchReaders = { fields, type, tie_breaker: float, slop: integer, ...wordsReaders };

export function readMultiMatch(parser: Parser): MultiMatchQuery {
  const { content } = parser;
  const table = new OptionTable(parser, multiMatchReaders);
  eachMember(content, () => {
    if (content.name === "fields") {
      if (!content.isValue && content.token !== "START_ARRAY") throw unsupported(content, "multi_match");
    } else if (!content.isValue) throw unknownToken(content, "multi_match");
    if (!table.take()) throw unsupported(content, "multi_match");
  });
  const { options } = table;
  if (options.query === undefined) throw content.error("No text specified for multi_match query");
  const kind = options.type ?? "best_fields";
  if (
    options.fuzziness !== undefined &&
    (kind === "cross_fields" || kind === "phrase" || kind === "phrase_prefix")
  ) {
    throw content.error(`Fuzziness not allowed for type [${kind}]`);
  }
  if (options.slop !== undefined && kind === "bool_prefix") {
    throw content.error("[slop] not allowed for type [bool_prefix]");
  }
  if ((options.prefix_length ?? 0) < 0) throw illegalArgument("No negative prefix length allowed.");
  if ((options.max_expansions ?? 1) <= 0) {
    throw illegalArgument("Max expansions must be strictly great than zero.");
  }
  return {
    kind: "multi_match",
    type: kind,
    fields: options.fields ?? [],
    text: options.query,
    tieBreaker: options.tie_breaker,
    options: { ...wordsOptions(options, "multi_match"), slop: slopOf(options.slop) },
    ...commonOf(options, "multi_match"),
  };
}

/** The options that both query string languages share. */
const stringReaders = {
  query: text,
  fields: stringFields,
  default_operator: operator,
  analyzer: text,
  analyze_wildcard: flag,
  lenient: flag,
  minimum_should_match: text,
  quote_field_suffix: text,
  fuzzy_prefix_length: integer,
  fuzzy_max_expansions: integer,
  fuzzy_transpositions: flag,
  auto_generate_synonyms_phrase_query: flag,
  ...common,
};

function stringOptions(options: Options<typeof stringReaders>, clause: string, fuzziness: string) {
  return {
    options: {
      ...defaultMatch,
      clause,
      operator: options.default_operator ?? "or",
      minimumShouldMatch: options.minimum_should_match,
      analyzer: options.analyzer,
    },
    fuzzy: {
      fuzziness,
      prefixLength: options.fuzzy_prefix_length ?? 0,
      maxExpansions: options.fuzzy_max_expansions ?? 50,
      transpositions: options.fuzzy_transpositions ?? true,
      rewrite: undefined,
    },
    lenient: options.lenient,
    quoteFieldSuffix: options.quote_field_suffix,
    ...commonOf(options, clause),
  };
}

const queryStringReaders = {
  default_field: text,
  type,
  tie_breaker: float,
  quote_analyzer: text,
  allow_leading_wildcard: flag,
  max_determinized_states: integer,
  enable_position_increments: flag,
  escape: flag,
  fuzzy_rewrite: text,
  fuzziness,
  phrase_slop: integer,
  rewrite: text,
  time_zone: text,
  ...stringReaders,
};

export function readQueryString(parser: Parser): QueryStringQuery {
  const { content } = parser;
  const table = new OptionTable(parser, queryStringReaders);
  readStringOptions(content, table, "query_string", (clause) => unsupported(content, clause));
  const { options } = table;
  if (options.query === undefined) {
    throw content.error("[query_string] must be provided with a [query]");
  }
  if (options.default_field !== undefined && options.fields !== undefined) {
    const reason =
      "Validation Failed: 1: [query_string] cannot use [fields] parameter in conjunction with [default_field];";
    throw conversionError(reason, "query_validation_exception");
  }
  return {
    kind: "query_string",
    text: options.escape ? options.query.replace(/[\\+\-!():^[\]"{}~*?|&/]/g, "\\$&") : options.query,
    fields:
      options.fields ??
      (options.default_field === undefined ? [] : [{ pattern: options.default_field, boost: 1 }]),
    type: options.type ?? "best_fields",
    tieBreaker: options.tie_breaker,
    ...stringOptions(options, "query_string", options.fuzziness ?? "AUTO"),
    defaultField: options.default_field ?? (options.fields === undefined ? "*" : undefined),
    rewrite: options.rewrite,
    fuzzyRewrite: options.fuzzy_rewrite,
    allowLeadingWildcard: options.allow_leading_wildcard ?? true,
    phraseSlop: slopOf(options.phrase_slop),
    timeZone: options.time_zone,
  };
}

/** Reads `fields` as a list and everything else as a value. @param unknown makes the clause's error for an unknown option */
function readStringOptions(
  content: ContentParser,
  table: { take(names?: readonly string[]): boolean },
  clause: string,
  unknown: (clause: string) => VendorError,
): void {
  eachMember(content, () => {
    if (content.token === "START_ARRAY") {
      if (content.name !== "fields" || !table.take()) throw unsupported(content, clause);
    } else if (!content.isValue) throw unknownToken(content, clause);
    else if (content.name === "fields" || !table.take()) throw unknown(clause);
  });
}

/** In the order of their bits in numeric flags. */
const operators = [
  "AND",
  "NOT",
  "OR",
  "PREFIX",
  "PHRASE",
  "PRECEDENCE",
  "ESCAPE",
  "WHITESPACE",
  "FUZZY",
  "NEAR",
  "SLOP",
];

/** `AND|NOT`, or the sum of their bits. */
const flags: OptionReader<ReadonlySet<string>> = (content) => {
  if (content.token !== "VALUE_NUMBER") return flagsOf(content.text());
  const bits = content.integer();
  return new Set(operators.filter((_, place) => (bits & (1 << place)) !== 0));
};

const simpleReaders = { flags, ...stringReaders };

export function readSimpleQueryString(parser: Parser): SimpleQueryStringQuery {
  const { content } = parser;
  const table = new OptionTable(parser, simpleReaders);
  readStringOptions(content, table, "simple_query_string", (clause) =>
    content.error(`[${clause}] unsupported field [${content.name}]`),
  );
  const { options } = table;
  if (options.query === undefined) throw content.error("[simple_query_string] query text missing");
  return {
    kind: "simple_query_string",
    text: options.query,
    fields: options.fields ?? [],
    ...stringOptions(options, "simple_query_string", "AUTO"),
    flags: options.flags ?? flagsOf("ALL"),
    analyzeWildcard: options.analyze_wildcard ?? false,
  };
}

function flagsOf(written: string): ReadonlySet<string> {
  const flags = written.toUpperCase().split("|").filter(Boolean);
  if (flags.length === 0 || flags.includes("ALL")) return new Set(operators);
  if (flags.includes("NONE")) return new Set();
  const unknown = flags.find((name) => !operators.includes(name));
  if (unknown) throw illegalArgument(`Unknown simple_query_string flag [${unknown}]`);
  return new Set(flags);
}
