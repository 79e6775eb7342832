/** `term`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-term-query.html */
import {
  checkOneField,
  common,
  commonOf,
  eachMember,
  flag,
  type OptionReader,
  type Options,
  readAny,
  required,
  requiredField,
} from "./options.ts";
import type { Parser } from "./parser.ts";
import type { Scalar, TermQuery } from "./query.ts";

const value: OptionReader<Scalar | undefined> = (content) => {
  if (content.token !== "START_ARRAY") return content.scalarOrBracket();
  throw content.error(
    "[term] query does not support arrays for value - use a bool query with multiple term clauses in the should section or use a Terms query if scoring is not required",
  );
};

const readers = { value, term: value, case_insensitive: flag, ...common };

export function readTerm(parser: Parser): TermQuery {
  const { content } = parser;
  let field: string | undefined;
  let short: Scalar | undefined;
  let options: Partial<Options<typeof readers>> = {};
  eachMember(content, () => {
    if (content.token === "START_ARRAY") {
      throw content.error("[term] query does not support array of values");
    }
    if (content.token !== "START_OBJECT" && !content.isValue) return;
    checkOneField(content, "term", field);
    field = content.name;
    if (content.token === "START_OBJECT") options = readAny(parser, "term", readers);
    else short = content.scalar();
  });
  return {
    kind: "term",
    field: requiredField(field),
    value: required(options.value ?? options.term ?? short, "value cannot be null"),
    caseInsensitive: options.case_insensitive ?? false,
    ...commonOf(options, "term"),
  };
}
