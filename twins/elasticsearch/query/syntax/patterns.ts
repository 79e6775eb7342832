/** `exists`, `wildcard`, `prefix`, `regexp` and `fuzzy`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/term-level-queries.html */
import { illegalArgument } from "../../vendor/error.ts";
import { fuzziness } from "./fuzziness.ts";
import {
  common,
  commonOf,
  eachMember,
  flag,
  integer,
  type OptionReader,
  OptionTable,
  readAny,
  readField,
  readValues,
  required,
  requiredField,
  scalar,
  text,
  textOrNull,
  unsupported,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type { ExistsQuery, FuzzyQuery, PrefixQuery, RegexpQuery, WildcardQuery } from "./query.ts";

export function readExists(parser: Parser): ExistsQuery {
  const options = readValues(parser, "exists", { field: text, ...common });
  if (options.field === undefined) {
    throw parser.content.error("[exists] must be provided with a [field]");
  }
  return { kind: "exists", field: requiredField(options.field), ...commonOf(options, "exists") };
}

const wildcardReaders = {
  value: text,
  wildcard: text,
  case_insensitive: flag,
  rewrite: textOrNull,
  ...common,
};

export function readWildcard(parser: Parser): WildcardQuery {
  const { content } = parser;
  const read = () => readAny(parser, "wildcard", wildcardReaders);
  const { field, options, short } = readField(parser, "wildcard", read, () => content.text());
  return {
    kind: "wildcard",
    field: requiredField(field),
    pattern: required(options?.wildcard ?? options?.value ?? short, "value cannot be null"),
    caseInsensitive: options?.case_insensitive ?? false,
    rewrite: options?.rewrite,
    ...commonOf(options ?? {}, "wildcard"),
  };
}

const prefixReaders = {
  value: textOrNull,
  prefix: textOrNull,
  case_insensitive: flag,
  rewrite: textOrNull,
  ...common,
};

export function readPrefix(parser: Parser): PrefixQuery {
  const { content } = parser;
  const read = () => readAny(parser, "prefix", prefixReaders);
  const { field, options, short } = readField(parser, "prefix", read, () => content.textOrNull());
  return {
    kind: "prefix",
    field: requiredField(field),
    prefix: required(options?.value ?? options?.prefix ?? short, "value cannot be null"),
    caseInsensitive: options?.case_insensitive ?? false,
    rewrite: options?.rewrite,
    ...commonOf(options ?? {}, "prefix"),
  };
}

/** Lucene's flags; the last two are combinations. */
const regexpFlags = ["INTERSECTION", "COMPLEMENT", "EMPTY", "ANYSTRING", "INTERVAL", "NONE", "ALL"];

const flags: OptionReader<string | undefined> = (content) => {
  const written = content.textOrNull();
  for (const name of written?.split("|") ?? []) {
    if (name !== "" && !regexpFlags.includes(name.toUpperCase())) {
      throw illegalArgument(`Unknown regexp flag [${name}]`);
    }
  }
  return written;
};

const regexpReaders = {
  value: textOrNull,
  flags,
  flags_value: integer,
  case_insensitive: flag,
  max_determinized_states: integer,
  rewrite: textOrNull,
  ...common,
};

export function readRegexp(parser: Parser): RegexpQuery {
  const { content } = parser;
  const read = () => readAny(parser, "regexp", regexpReaders);
  const { field, options, short } = readField(parser, "regexp", read, () => content.textOrNull());
  return {
    kind: "regexp",
    field: requiredField(field),
    pattern: required(options?.value ?? short, "value cannot be null"),
    caseInsensitive: options?.case_insensitive ?? false,
    rewrite: options?.rewrite,
    flags: (options?.flags ?? "ALL").toUpperCase(),
    ...commonOf(options ?? {}, "regexp"),
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

export function readFuzzy(parser: Parser): FuzzyQuery {
  const { content } = parser;
  const table = new OptionTable(parser, fuzzyReaders);
  const read = () => {
    eachMember(content, () => {
      if (!content.isValue) {
        throw content.error(`[fuzzy] unexpected token [${content.token}] after [${content.name}]`);
      }
      if (!table.take()) throw unsupported(content, "fuzzy");
    });
    return table.options;
  };
  const { field, short } = readField(parser, "fuzzy", read, () => content.scalarOrBracket());
  const long = table.options;
  return {
    kind: "fuzzy",
    field: requiredField(field, "field name cannot be null or empty"),
    value: required(long.value ?? long.term ?? short, "query value cannot be null"),
    fuzzy: {
      fuzziness: long.fuzziness ?? "AUTO",
      prefixLength: long.prefix_length ?? 0,
      maxExpansions: long.max_expansions ?? 50,
      transpositions: long.transpositions ?? true,
      rewrite: long.rewrite,
    },
    ...commonOf(long, "fuzzy"),
  };
}
