/** `bool`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-bool-query.html */
import { VendorError } from "../../vendor-error.ts";
import type { JsonPath, Position } from "../compiled-query.ts";
import { contentError } from "../errors.ts";
import { common, commonOf, type OptionReader, readOptions, text } from "./options.ts";
import type { Parser } from "./parser.ts";
import type { BoolQuery, Query } from "./query.ts";

interface Clauses {
  queries: Query[];
  dropped: number;
}

/** One query, or several in an array. */
const clauses: OptionReader<Clauses> = (value, { parser, clause, option, path }) => {
  const excludes = option === "must_not";
  const one = (json: unknown, at: JsonPath) =>
    excludes ? parser.excluding(() => parser.clauseOrDrop(json, at)) : parser.clauseOrDrop(json, at);
  const read = (json: unknown, at: JsonPath) => wrapped(parser, clause, option, at, () => one(json, at));
  const found = Array.isArray(value)
    ? value.map((json, index) => read(json, [...path, index]))
    : [read(value, path)];
  const queries = found.flatMap((query): Query[] => {
    if (query.kind !== "dropped") return [query];
    // One that is taken to decide the whole clause has to stand there.
    return query.matches === excludes ? [query.matches ? everything : nothing] : [];
  });
  return { queries, dropped: found.length - queries.length };
};

const everything: Query = { kind: "match_all", boost: 1, name: undefined };
const nothing: Query = { kind: "match_none", boost: 1, name: undefined };

const readers = {
  must: clauses,
  filter: clauses,
  should: clauses,
  must_not: clauses,
  minimum_should_match: text,
  adjust_pure_negative: text,
  ...common,
};

export function readBool(parser: Parser, json: Record<string, unknown>, path: JsonPath): BoolQuery {
  const options = readOptions(parser, aliased(json), path, "bool", readers, (_, clause, option, at) =>
    parser.unknownField(clause, option, Object.keys(readers), at),
  );
  return {
    kind: "bool",
    must: options.must?.queries ?? [],
    filter: options.filter?.queries ?? [],
    should: options.should?.queries ?? [],
    mustNot: options.must_not?.queries ?? [],
    minimumShouldMatch: options.minimum_should_match,
    droppedShould: options.should?.dropped ?? 0,
    droppedRequired: (options.must?.dropped ?? 0) + (options.filter?.dropped ?? 0),
    ...commonOf(options),
  };
}

/** `mustNot` is an old name of `must_not`. */
function aliased(json: Record<string, unknown>): Record<string, unknown> {
  if (!("mustNot" in json)) return json;
  const { mustNot, ...rest } = json;
  return { ...rest, must_not: mustNot };
}

/** An error inside names the member it was found in; the vendor says it once for each level. */
export function wrapped<T>(parser: Parser, clause: string, option: string, path: JsonPath, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof VendorError)) throw error;
    throw contentError(
      `[${clause}] failed to parse field [${option}]`,
      positionOf(error) ?? parser.at(path),
      error,
    );
  }
}

function positionOf({ cause: { line, col, reason } }: VendorError): Position | undefined {
  if (typeof line === "number" && typeof col === "number") return { line, col };
  const found = /\[(\d+):(\d+)\]/.exec(reason);
  return found ? { line: Number(found[1]), col: Number(found[2]) } : undefined;
}
