/** `ip` fields: one order for both versions, CIDR blocks, and the vendor's errors. Measured on a server of 8.15.0. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
const documents = [
  { n: 1, ip: "10.0.0.9" },
  { n: 2, ip: "10.0.0.10" },
  { n: 3, ip: ["::1", "192.168.1.1"] },
  { n: 4, ip: "FE80:0:0:0:0:0:0:1" },
  { n: 5 },
  { n: 6, ip: "::ffff:10.0.0.9" },
  { n: 7, ip: "9.255.255.255" },
];

beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  const { client } = sandbox;
  await client.indices.create({
    index: "hosts",
    mappings: { properties: { ip: { type: "ip" }, n: { type: "long" } } },
  });
  const operations = documents.flatMap((document) => [{ index: { _id: String(document.n) } }, document]);
  await client.bulk({ index: "hosts", operations });
});
afterAll(() => sandbox.stop());

async function search(body: object) {
  const { status, text } = await sandbox.raw("POST", "/hosts/_search", body);
  return { status, body: JSON.parse(text) };
}

describe("addresses are found by", () => {
  test.each([
    ["term, a block", { term: { ip: "10.0.0.0/8" } }, [1, 2, 6]],
    ["term, a block of one", { term: { ip: "10.0.0.9/32" } }, [1, 6]],
    ["term, all of version 4", { term: { ip: "0.0.0.0/0" } }, [1, 2, 3, 6, 7]],
    ["term, all of version 6", { term: { ip: "::/0" } }, [1, 2, 3, 4, 6, 7]],
    ["term, mapped to version 6", { term: { ip: "::ffff:10.0.0.9" } }, [1, 6]],
    ["terms, with a block", { terms: { ip: ["10.0.0.10", "fe80::/10"] } }, [2, 4]],
    ["range", { range: { ip: { gte: "10.0.0.9", lt: "10.0.0.11" } } }, [1, 2, 6]],
    ["range, open below", { range: { ip: { lte: "10.0.0.9" } } }, [1, 3, 6, 7]],
    ["range, open above", { range: { ip: { gt: "10.0.0.9" } } }, [2, 3, 4]],
    ["range, beyond the last", { range: { ip: { gt: "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" } } }, []],
    ["match", { match: { ip: "10.0.0.0/8" } }, [1, 2, 6]],
    ["match, lenient", { match: { ip: { query: "nope", lenient: true } } }, []],
    ["query_string, quoted", { query_string: { query: 'ip:"10.0.0.0/8"' } }, [1, 2, 6]],
    ["query_string, escaped", { query_string: { query: "ip:10.0.0.0\\/8" } }, [1, 2, 6]],
    ["query_string, a range", { query_string: { query: "ip:[9.0.0.0 TO 10.0.0.9]" } }, [1, 6, 7]],
    ["exists", { exists: { field: "ip" } }, [1, 2, 3, 4, 6, 7]],
  ])("%s", async (_, query, found) => {
    const { body } = await search({ query, sort: ["n"], track_scores: true });
    expect(body.hits.hits.map(({ sort }: { sort: number[] }) => sort[0])).toEqual(found);
    for (const { _score } of body.hits.hits) expect(_score).toBe(1);
  });
});

describe("are refused:", () => {
  const literal = (text: string) => `failed to create query: '${text}' is not an IP string literal.`;
  test.each([
    [{ term: { ip: "nope" } }, literal("nope")],
    [{ term: { ip: 5 } }, literal("5")],
    [{ terms: { ip: ["nope"] } }, literal("nope")],
    [{ range: { ip: { gt: "10.0.0.0/8" } } }, literal("10.0.0.0/8")],
    [{ match: { ip: "10.0.0.9 10.0.0.10" } }, literal("10.0.0.9 10.0.0.10")],
    [
      { term: { ip: "10.0.0.0/99" } },
      "failed to create query: Illegal prefix length [99] in [10.0.0.0/99]. Must be 0-32 for IPv4 ranges, 0-128 for IPv6 ranges",
    ],
    [{ term: { ip: "10.0.0.0/x" } }, 'failed to create query: For input string: "x"'],
    [
      { prefix: { ip: "10." } },
      "Can only use prefix queries on keyword, text and wildcard fields - not on [ip] which is of type [ip]",
    ],
    [
      { fuzzy: { ip: "10.0.0.9" } },
      "failed to create query: Can only use fuzzy queries on keyword and text fields - not on [ip] which is of type [ip]",
    ],
    [
      { term: { ip: { value: "10.0.0.9", case_insensitive: true } } },
      "[ip] field which is of type [ip], does not support case insensitive term queries",
    ],
  ])("%j", async (query, reason) => {
    const { status, body } = await search({ query });
    expect({ status, reason: body.error?.failed_shards?.[0]?.reason.reason }).toEqual({
      status: 400,
      reason,
    });
  });
});

test("addresses are sorted, paged and shown as addresses", async () => {
  const sorted = async (body: object) =>
    (await search(body)).body.hits.hits.map(({ sort }: { sort: unknown[] }) => sort[0]);
  const ascending = ["::1", "9.255.255.255", "10.0.0.9", "10.0.0.9", "10.0.0.10", "fe80::1", null];
  expect(await sorted({ sort: ["ip", "n"] })).toEqual(ascending);
  expect(await sorted({ sort: [{ ip: "desc" }, "n"] })).toEqual([
    "fe80::1",
    "192.168.1.1",
    "10.0.0.10",
    "10.0.0.9",
    "10.0.0.9",
    "9.255.255.255",
    null,
  ]);
  expect(await sorted({ sort: ["ip", "n"], search_after: ["10.0.0.9", 1] })).toEqual(ascending.slice(3));
  const { body } = await search({ query: { term: { n: 3 } }, fields: ["ip"], docvalue_fields: ["ip"] });
  expect(body.hits.hits[0].fields).toEqual({ ip: ["::1", "192.168.1.1"] });
});

test("addresses are the keys of buckets, in their order", async () => {
  const keys = async (type: string, options: object) => {
    const answer = await search({ size: 0, aggs: { a: { [type]: { field: "ip", ...options } } } });
    return answer.body.aggregations.a.buckets.map(({ key }: { key: unknown }) => key);
  };
  const rare = ["::1", "9.255.255.255", "10.0.0.10", "192.168.1.1", "fe80::1"];
  expect(await keys("terms", {})).toEqual(["10.0.0.9", ...rare]);
  expect(await keys("terms", { exclude: ["10.0.0.9"] })).toEqual(rare);
  expect(await keys("terms", { missing: "1.2.3.4", order: { _key: "asc" }, size: 2 })).toEqual([
    "::1",
    "1.2.3.4",
  ]);
  const sources = [{ i: { terms: { field: "ip", order: "desc" } } }];
  const composite = await search({
    size: 0,
    aggs: { a: { composite: { sources, after: { i: "10.0.0.10" } } } },
  });
  expect(composite.body.aggregations.a.buckets).toEqual([
    { key: { i: "10.0.0.9" }, doc_count: 2 },
    { key: { i: "9.255.255.255" }, doc_count: 1 },
    { key: { i: "::1" }, doc_count: 1 },
  ]);
  const counts = await search({
    size: 0,
    aggs: { different: { cardinality: { field: "ip" } }, all: { value_count: { field: "ip" } } },
  });
  expect(counts.body.aggregations).toEqual({ different: { value: 6 }, all: { value: 7 } });
  const refused = await search({ size: 0, aggs: { a: { max: { field: "ip" } } } });
  expect(refused.body.error.failed_shards[0].reason.reason).toBe(
    "Field [ip] of type [ip] is not supported for aggregation [max]",
  );
});
