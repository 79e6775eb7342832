/** Errors in members and sorts of a search. Each row is an answer of a real 8.15.0. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  await sandbox.raw("PUT", "/logs/_doc/1", { a: 1, t: "error in pool", ok: true, many: [1, 1], tags: ["x"] });
  await sandbox.raw("PUT", "/logs/_doc/2", { a: 1, t: "timeout", tags: ["x", "y"] });
});
afterAll(() => sandbox.stop());

const search = (body: string) => sandbox.raw("POST", "/logs/_search", JSON.parse(body));
const jackson = (reason: string, source: string, at: string) => {
  const [line, column] = at.split(":");
  return `[${at}] ${reason}\n at [Source: (byte[])"${source}"; line: ${line}, column: ${column}]`;
};

describe("the text of a body is refused", () => {
  test.each<[body: string, type: string, reason: string]>([
    [
      '{"from":true}',
      "x_content_parse_exception",
      jackson(
        "Current token (VALUE_TRUE) not numeric, can not use numeric value accessors",
        '{"from":true}',
        "1:13",
      ),
    ],
    [
      '{"size":3000000000}',
      "x_content_parse_exception",
      jackson(
        "Numeric value (3000000000) out of range of int (-2147483648 - 2147483647)",
        '{"size":3000000000}',
        "1:19",
      ),
    ],
    [
      '{"explain":1}',
      "x_content_parse_exception",
      jackson("Current token (VALUE_NUMBER_INT) not of boolean type", '{"explain":1}', "1:13"),
    ],
    ['{"size":""}', "number_format_exception", "empty String"],
    [
      '{"from":"3000000000"}',
      "illegal_argument_exception",
      "Value [3000000000] is out of range for an integer",
    ],
    ['{"from":-1}', "illegal_argument_exception", "[from] parameter cannot be negative but was [-1]"],
    ['{"é":0}', "parsing_exception", "Unknown key for a VALUE_NUMBER in [é]."],
    [
      '{"query":{"bool":-1},"nope":1}',
      "parsing_exception",
      "[bool] query malformed, no start_object after query name",
    ],
    [
      '{"query":{"term":{"t":{"value":{}}}}}',
      "parsing_exception",
      "Unexpected token [END_OBJECT] found after the main object.",
    ],
    [
      '{"sort":{"at":true}}',
      "x_content_parse_exception",
      "[1:19] [field_sort] Expected START_OBJECT but was: END_OBJECT",
    ],
    ['{"_source":{"includes":[1]}}', "parsing_exception", "Unknown key for a VALUE_NUMBER in [includes]."],
    [
      '{"docvalue_fields":[[{"field":"a"}]]}',
      "parsing_exception",
      "Unknown key for a END_ARRAY in [docvalue_fields].",
    ],
    [
      '{"fields":[{"field":"a","format":1}]}',
      "x_content_parse_exception",
      "[1:34] [fetch_field_and_format] format doesn't support values of type: VALUE_NUMBER",
    ],
    ['{"collapse":{"foo":1}}', "x_content_parse_exception", "[1:14] [collapse] unknown field [foo]"],
    ['{"pit":{}}', "illegal_argument_exception", "point in time id is not provided"],
    [
      '{"indices_boost":[{"a":"x"}]}',
      "parsing_exception",
      "Expected [VALUE_NUMBER] in [indices_boost] but found [VALUE_STRING]",
    ],
    [
      '{"search_after":[],"sort":"a"}',
      "illegal_argument_exception",
      "Values must contains at least one value.",
    ],
    ['{"highlight":{"pre_tags":["a"]}}', "parsing_exception", "pre_tags are set but post_tags are not set"],
    [
      '{"highlight":{"fields":{"a":{"foo":1}}}}',
      "x_content_parse_exception",
      "[1:36] [highlight] failed to parse field [fields]",
    ],
  ])("%s", async (body, type, reason) => {
    const answer = await search(body);
    expect(answer).toMatchObject({ status: 400, body: { error: { type, reason } } });
  });

  test("a body that is null is none of a search", async () => {
    const answer = await sandbox.raw("POST", "/logs/_search", null);
    expect(answer.body.error.reason).toBe("Expected [START_OBJECT] but found [VALUE_NULL]");
  });
});

describe("a shard refuses", () => {
  test.each<[body: string, type: string, reason: string]>([
    [
      '{"sort":{"a":{"format":"yyyy"}}}',
      "illegal_argument_exception",
      "require a date_time formatter; got [decimal]",
    ],
    [
      '{"sort":{"ok":{"format":"yyyy"}}}',
      "illegal_argument_exception",
      "Field [ok] of type [boolean] does not support custom formats",
    ],
    [
      '{"sort":{"t.keyword":{"mode":"avg","format":"x"}}}',
      "query_shard_exception",
      "we only support AVG, MEDIAN and SUM on number based fields",
    ],
    [
      '{"sort":{"t.keyword":{"numeric_type":"long"}}}',
      "query_shard_exception",
      "[numeric_type] option cannot be set on a non-numeric field, got keyword",
    ],
    ['{"sort":{"nope":{"unmapped_type":"x"}}}', "illegal_argument_exception", "No mapper found for type [x]"],
    [
      '{"docvalue_fields":[{"field":"t","format":"x"}]}',
      "illegal_argument_exception",
      "Field [t] of type [text] does not support custom formats",
    ],
    [
      '{"fields":[{"field":"a","format":"x"}]}',
      "illegal_argument_exception",
      "error fetching [a]: Field [a] of type [long] doesn't support formats.",
    ],
    ['{"search_after":[1]}', "illegal_argument_exception", "Sort must contain at least one field."],
    [
      '{"search_after":[1],"sort":"a","collapse":{"field":"t.keyword"}}',
      "illegal_argument_exception",
      "Cannot use [collapse] in conjunction with [search_after] unless the search is sorted on the same field. Multiple sort fields are not allowed.",
    ],
    [
      '{"highlight":{"fields":{"a":{"type":"x"}}}}',
      "illegal_argument_exception",
      "unknown highlighter type [x] for the field [a]",
    ],
    [
      '{"size":10001,"sort":"nope"}',
      "query_shard_exception",
      "No mapping found for [nope] in order to sort on",
    ],
    [
      '{"collapse":{"field":"tags.keyword"}}',
      "illegal_state_exception",
      "failed to extract doc:1, the grouping field must be single valued",
    ],
    [
      '{"collapse":{"field":"many"}}',
      "illegal_state_exception",
      "failed to extract doc:0, the grouping field must be single valued",
    ],
    [
      '{"query":{"function_score":{"gauss":{"a":{"origin":1,"scale":1,"foo":2}}}}}',
      "parse_exception",
      "parameter [foo] not supported!",
    ],
  ])("%s", async (body, type, reason) => {
    const { status, body: answer } = await search(body);
    expect(status).toBe(400);
    expect(answer.error).toMatchObject({
      type: "search_phase_execution_exception",
      root_cause: [{ type, reason }],
    });
  });
});

test("hits without the collapse field collapse to one, which does not show the field", async () => {
  const { body } = await search('{"collapse":{"field":"many"},"query":{"term":{"_id":"2"}}}');
  expect(body.hits.hits).toHaveLength(1);
  expect(body.hits.hits[0]).not.toHaveProperty("fields");
  const single = await search('{"collapse":{"field":"tags.keyword"},"query":{"term":{"_id":"1"}}}');
  expect(single.body.hits.hits[0].fields).toEqual({ "tags.keyword": ["x"] });
});

test.each<[parameters: string, status: number, reason?: string]>([
  ["sort=a:b", 200],
  ["typed_keys=x", 200],
  ["preference=_local", 200],
  ["preference=__proto__", 400, "no Preference for [__proto__]"],
  ["search_type=nope", 400, "No search type for [nope]"],
  ["batched_reduce_size=1", 400, "batchedReduceSize must be >= 2"],
  ["request_cache=x", 400, "Failed to parse value [x] as only [true] or [false] are allowed."],
  ["track_total_hits=x", 400, "Failed to parse int parameter [track_total_hits] with value [x]"],
])("?%s", async (parameters, status, reason) => {
  const answer = await sandbox.raw("GET", `/logs/_search?${parameters}`);
  expect(answer.status).toBe(status);
  expect(answer.body.error?.reason).toBe(reason);
});
