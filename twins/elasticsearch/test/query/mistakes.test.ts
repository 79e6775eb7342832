/** Syntax errors of queries: each row is the answer of a real 8.15.0. */
import { expect, test } from "vitest";
import { ContentParser } from "../../json/content-parser.ts";
import { locateIn } from "../../json/position.ts";
import { readJson } from "../../json/read.ts";
import { checkQuery } from "../../query/compile.ts";
import { type ErrorCause, VendorError } from "../../vendor/error.ts";
import { errorOf } from "./support.ts";

/** The error and its causes, outermost first: `type|reason@line:col`. */
function chainOf(cause: ErrorCause | undefined): string[] {
  if (!cause) return [];
  const { type, reason, line, col } = cause;
  const [said] = String(reason).split("\n at [Source");
  return [`${type}|${said}${line === undefined ? "" : `@${line}:${col}`}`, ...chainOf(cause.caused_by)];
}

function mistake(query: string): string[] {
  const content = new ContentParser(readJson(query), locateIn(query, []));
  content.next();
  const error = errorOf(() => checkQuery(content, "vendor"));
  if (!(error instanceof VendorError)) throw error;
  return chainOf(error.cause);
}

const parsing = (reason: string) => [`parsing_exception|${reason}`];
const illegal = (reason: string) => [`illegal_argument_exception|${reason}`];
const number = (reason: string) => [`number_format_exception|${reason}`];
const state = (reason: string) => [`illegal_state_exception|${reason}`];
const content = (...reasons: string[]) => reasons.map((reason) => `x_content_parse_exception|${reason}`);

const notNumeric = (token: string, at: string) => [
  `x_content_parse_exception|[${at}] Current token (${token}) not numeric, can not use numeric value accessors`,
  `json_parse_exception|Current token (${token}) not numeric, can not use numeric value accessors`,
];

test.each<[query: string, causes: string[]]>([
  [
    '{"foo":{"a":1},"b":2}',
    [...parsing("unknown query [foo]@1:8"), "named_object_not_found_exception|[1:8] unknown field [foo]"],
  ],
  [
    '{"match_al":{}}',
    [
      ...parsing(
        "unknown query [match_al] did you mean any of [match_all, match, match_none, match_phrase]?@1:13",
      ),
      "named_object_not_found_exception|[1:13] unknown field [match_al]",
    ],
  ],
  ['{"exists":{"field":"é","b":1}}', parsing("[exists] query does not support [b]@1:29")],
  // A list where a value belongs: readers that read it and readers that check the token first report different errors.
  ['{"match":{"t":["a"]}}', state("Can't get text on a START_ARRAY at 1:15")],
  ['{"match":{"t":{"query":["a"]}}}', parsing("[match] unknown token [START_ARRAY] after [query]@1:24")],
  ['{"match":{"t":{"query":null}}}', parsing("[match] unknown token [VALUE_NULL] after [query]@1:24")],
  ['{"match":{"t":null}}', parsing("No text specified for text query@1:19")],
  [
    '{"match":{"t":"a","u":{"foo":1}}}',
    parsing("[match] query doesn't support multiple fields, found [t] and [u]@1:23"),
  ],
  ['{"match":{"t":{"query":"a","boost":true}}}', notNumeric("VALUE_TRUE", "1:40")],
  ['{"match":{"t":{"query":"a","boost":""}}}', number("empty String")],
  [
    '{"match":{"t":{"query":"a","zero_terms_query":"x"}}}',
    parsing("Unsupported zero_terms_query value [x]@1:47"),
  ],
  [
    '{"match":{"t":{"query":"a","prefix_length":-1}}}',
    illegal("[match] requires prefix length to be non-negative."),
  ],
  [
    '{"match":{"t":{"query":"a","fuzziness":"x"}}}',
    [...illegal("fuzziness cannot be [x]."), ...number('For input string: "X"')],
  ],
  [
    '{"match":{"t":{"query":"a","fuzziness":"AUTO:5,2"}}}',
    ["parse_exception|fuzziness wrongly configured [AUTO:5,2]. Must be 0 < lower value <= higher value."],
  ],
  ['{"term":{"t":null}}', illegal("field name is null or empty")],
  [
    '{"term":{"t":{"value":[]}}}',
    parsing(
      "[term] query does not support arrays for value - use a bool query with multiple term clauses in the should section or use a Terms query if scoring is not required@1:23",
    ),
  ],
  ['{"term":{"t":"a","u":[1]}}', parsing("[term] query does not support array of values@1:22")],
  ['{"terms":{"t":[[1]]}}', parsing("[terms] unknown token [END_ARRAY] after [t]@1:19")],
  [
    '{"terms":{"t":[{"a":[]},"b"]}}',
    parsing("[terms] malformed query, expected [END_OBJECT] but found [VALUE_STRING]@1:25"),
  ],
  [
    '{"terms":{"t":[1],"u":{}}}',
    parsing("[terms] query does not support more than one field. Already got: [t] but also found [u]@1:23"),
  ],
  ['{"terms":{"t":{}}}', illegal("Required [index, id, path]")],
  ['{"range":{"a":{"gte":1},"boost":1}}', parsing("[range] query does not support [boost]@1:33")],
  ['{"range":{"a":{"gte":1,"format":null}}}', state("Can't get text on a VALUE_NULL at 1:33")],
  [
    '{"range":{"a":{"gte":1,"time_zone":"x"}}}',
    [
      ...illegal("java.time.DateTimeException: Invalid ID for ZoneOffset, invalid format: x"),
      "date_time_exception|Invalid ID for ZoneOffset, invalid format: x",
    ],
  ],
  ['{"fuzzy":{"t":[]}}', parsing("[fuzzy] query doesn't support multiple fields, found [t] and [t]@1:16")],
  ['{"bool":{"must":1}}', content("[1:17] [bool] must doesn't support values of type: VALUE_NUMBER")],
  [
    '{"bool":{"must":[[]]}}',
    [
      ...content("[1:18] [bool] failed to parse field [must]"),
      ...state("expected value but got [START_ARRAY]"),
    ],
  ],
  [
    '{"bool":{"must":[1]}}',
    [
      ...content("[1:19] [bool] failed to parse field [must]"),
      ...parsing("[_na] query malformed, must start with start_object@1:19"),
    ],
  ],
  [
    '{"bool":{"filter":{"bool":{"must":{"match":{"t":{"foo":1}}}}}}}',
    [
      ...content(
        "[1:56] [bool] failed to parse field [filter]",
        "[1:56] [bool] failed to parse field [must]",
      ),
      ...parsing("[match] query does not support [foo]@1:56"),
    ],
  ],
  [
    '{"ids":{"values":[{}]}}',
    [
      ...parsing("[1:19] [ids] failed to parse field [values]@1:19"),
      ...content("[1:19] [ids] failed to parse field [values]"),
      ...state("Can't get text on a START_OBJECT at 1:19"),
    ],
  ],
  ['{"constant_score":{"boost":[]}}', parsing("unexpected token [START_ARRAY]@1:28")],
  [
    '{"dis_max":{"queries":[{"match_all":{}},1]}}',
    parsing("[_na] query malformed, must start with start_object@1:42"),
  ],
  ['{"boosting":{"foo":[1]}}', parsing("[boosting] query does not support [foo]@1:21")],
  ['{"multi_match":{"query":"a","fields":["t^x"]}}', number('For input string: "x"')],
  ['{"multi_match":{"query":"a","fields":[[]]}}', state("Can't get text on a START_ARRAY at 1:39")],
  [
    '{"query_string":{"query":"a","fields":"t"}}',
    parsing("[query_string] query does not support [fields]@1:39"),
  ],
  [
    '{"simple_query_string":{"query":"a","foo":1}}',
    parsing("[simple_query_string] unsupported field [foo]@1:43"),
  ],
  [
    '{"function_score":{"query_string":{}}}',
    [
      ...parsing("unknown query [function_score] did you mean any of [random_score, script_score]?@1:35"),
      "named_object_not_found_exception|[1:35] unknown field [query_string]",
    ],
  ],
  [
    '{"function_score":{"functions":[],"min_score":{}}}',
    parsing(
      "failed to parse [function_score] query. [you can either define [functions] array or a single function, not both. already found [functions] array, now encountering [min_score].]@1:47",
    ),
  ],
  [
    '{"function_score":{"functions":[{}]}}',
    parsing("failed to parse [function_score] query. an entry in functions list is missing a function.@1:34"),
  ],
])("%s", (query, causes) => {
  expect(mistake(query)).toEqual(causes);
});

test("the value of a term that is an object ends the query early", () => {
  const query = '{"term":{"t":{"value":{}}}}';
  const content = new ContentParser(readJson(query), locateIn(query, []));
  content.next();
  checkQuery(content, "vendor");
  expect(content.next()).toBe("END_OBJECT");
});
