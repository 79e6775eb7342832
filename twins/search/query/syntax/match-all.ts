/** `match_all` and `match_none`. */
import type { JsonPath } from "../compiled-query.ts";
import { common, commonOf, readOptions } from "./options.ts";
import type { Parser } from "./parser.ts";
import type { MatchAllQuery, MatchNoneQuery } from "./query.ts";

export function readMatchAll(parser: Parser, json: Record<string, unknown>, path: JsonPath): MatchAllQuery {
  return { kind: "match_all", ...readCommon(parser, json, path, "match_all") };
}

export function readMatchNone(parser: Parser, json: Record<string, unknown>, path: JsonPath): MatchNoneQuery {
  return { kind: "match_none", ...readCommon(parser, json, path, "match_none") };
}

function readCommon(parser: Parser, json: Record<string, unknown>, path: JsonPath, clause: string) {
  return commonOf(
    readOptions(parser, json, path, clause, common, (_, name, option, at) =>
      parser.unknownField(name, option, Object.keys(common), at),
    ),
  );
}
