/** `match_all` and `match_none`. */
import { ObjectParser } from "../../json/object-parser.ts";
import { commonFields, parseAsQuery } from "./declared.ts";
import { common, commonOf, readValues } from "./options.ts";
import type { Parser } from "./parser.ts";
import type { MatchAllQuery, MatchNoneQuery } from "./query.ts";

const matchAll = new ObjectParser("match_all", commonFields("match_all"));

export function readMatchAll({ content }: Parser): MatchAllQuery {
  const options = parseAsQuery(matchAll, content, { boost: undefined, _name: undefined });
  return { kind: "match_all", ...commonOf(options, "match_all") };
}

export function readMatchNone(parser: Parser): MatchNoneQuery {
  return { kind: "match_none", ...commonOf(readValues(parser, "match_none", common), "match_none") };
}
