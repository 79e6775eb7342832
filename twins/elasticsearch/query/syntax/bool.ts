/** `bool`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-bool-query.html */
import { type Field, flagField, itemsOf, ObjectParser, scalarField } from "../../json/object-parser.ts";
import { commonFields } from "./declared.ts";
import { commonOf } from "./options.ts";
import type { Parser } from "./parser.ts";
import type { BoolQuery, Query } from "./query.ts";

interface Clauses {
  queries: Query[];
  dropped: number;
}

type Occurrence = "must" | "filter" | "should" | "must_not";

interface BoolOptions extends Record<Occurrence, Clauses> {
  parser: Parser;
  minimumShouldMatch: string | undefined;
  boost: number | undefined;
  _name: string | undefined;
}

/** One query, or several in an array. */
function clauses(occurrence: Occurrence): Field<BoolOptions> {
  return {
    tokens: ["START_OBJECT", "START_ARRAY", "VALUE_NULL"],
    read(content, options) {
      if (content.token === "VALUE_NULL") return;
      const { parser } = options;
      const excludes = occurrence === "must_not";
      const one = () => (excludes ? parser.excluding(() => parser.clauseOrDrop()) : parser.clauseOrDrop());
      const found = itemsOf(content, one);
      const queries = found.flatMap((query): Query[] => {
        if (query.kind !== "dropped") return [query];
        // A dropped clause that decides the whole `bool` is replaced, so that it still decides.
        return query.matches === excludes ? [query.matches ? everything : nothing] : [];
      });
      options[occurrence] = { queries, dropped: found.length - queries.length };
    },
  };
}

const everything: Query = { kind: "match_all", boost: 1, name: undefined };
const nothing: Query = { kind: "match_none", boost: 1, name: undefined };

const boolParser = new ObjectParser<BoolOptions>("bool", {
  must: clauses("must"),
  should: clauses("should"),
  must_not: clauses("must_not"),
  mustNot: clauses("must_not"),
  filter: clauses("filter"),
  adjust_pure_negative: flagField(() => undefined),
  minimum_should_match: scalarField((content, options) => {
    options.minimumShouldMatch = content.textOrNull();
  }),
  ...commonFields("bool"),
});

export function readBool(parser: Parser): BoolQuery {
  const none: Clauses = { queries: [], dropped: 0 };
  const options = boolParser.parse(parser.content, {
    parser,
    must: none,
    filter: none,
    should: none,
    must_not: none,
    minimumShouldMatch: undefined,
    boost: undefined,
    _name: undefined,
  });
  return {
    kind: "bool",
    must: options.must.queries,
    filter: options.filter.queries,
    should: options.should.queries,
    mustNot: options.must_not.queries,
    minimumShouldMatch: options.minimumShouldMatch,
    droppedShould: options.should.dropped,
    droppedRequired: options.must.dropped + options.filter.dropped,
    ...commonOf(options, "bool"),
  };
}
