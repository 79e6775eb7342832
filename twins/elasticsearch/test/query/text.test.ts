import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Fidelity } from "../../vendor/fidelity.ts";
import { idsOf, scoresOf, storeOf } from "./support.ts";

const events = [
  { message: "quick brown fox", code: "A-1" },
  { message: "the fox is quick and brown", code: "A-2" },
  { message: "brown quick", code: "b-3" },
  { message: ["quick", "brown"], code: "*" },
  { message: "quik browne foxes", code: "A?1" },
  { code: "A-1", http: { status: 200, path: "/a" } },
];

describe("text", () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await storeOf([{ message: ["x", "y"] }, ...events]);
  });
  afterAll(() => store.close());

  const matches: [name: string, query: object, ids: string, fidelity?: Fidelity][] = [
    ["a phrase has its words in order", { match_phrase: { message: "quick brown" } }, "1"],
    [
      "values of a list are far apart",
      { match_phrase: { message: { query: "quick brown", slop: 50 } } },
      "1 2 3",
    ],
    ["slop lets words be moved", { match_phrase: { message: { query: "quick fox", slop: 1 } } }, "1"],
    [
      "slop lets words change places",
      { match_phrase: { message: { query: "quick brown", slop: 2 } } },
      "1 2 3",
    ],
    ["a phrase of one word is that word", { match_phrase: { message: "fox" } }, "1 2"],
    ["a phrase of no words matches nothing", { match_phrase: { message: "!!" } }, ""],
    [
      "a phrase of no words can match everything",
      { match_phrase: { message: { query: "!!", zero_terms_query: "all" } } },
      "0 1 2 3 4 5 6",
    ],
    ["a long phrase", { match_phrase: { message: "the fox is quick and brown the fox is quick" } }, ""],
    ["terms match any of them", { terms: { code: ["A-1", "b-3", "zzz"] } }, "1 3 6"],
    ["terms on numbers take strings", { terms: { "http.status": ["200", 201] } }, "6"],
    ["exists: a field", { exists: { field: "message" } }, "0 1 2 3 4 5"],
    ["exists: an object", { exists: { field: "http" } }, "6"],
    ["exists: a pattern", { exists: { field: "ht*.status" } }, "6"],
    ["exists: what is not there", { exists: { field: "nope" } }, ""],
    ["wildcard: star", { wildcard: { code: "A-*" } }, "1 2 6"],
    ["wildcard: question mark", { wildcard: { code: { value: "?-?" } } }, "1 2 3 6"],
    ["wildcard: case", { wildcard: { code: { wildcard: "a*", case_insensitive: true } } }, "1 2 5 6"],
    ["wildcard: an escape", { wildcard: { code: "A\\?1" } }, "5"],
    ["wildcard: an escaped star", { wildcard: { code: "\\*" } }, "4"],
    ["match with fuzziness", { match: { message: { query: "quick", fuzziness: "AUTO" } } }, "1 2 3 4 5"],
    [
      "fuzziness keeps a prefix",
      { match: { message: { query: "zuick", fuzziness: 2, prefix_length: 1 } } },
      "",
    ],
    ["prefix of words", { prefix: { message: "brow" } }, "1 2 3 4 5", "vendor"],
    ["prefix of the whole", { prefix: { "code.keyword": "A-" } }, "1 2 6", "vendor"],
    ["regexp of words", { regexp: { message: "fox(es)?" } }, "1 2 5", "vendor"],
    ["regexp of a range of characters", { regexp: { message: "[d-g]ox[^a-d-]?s?" } }, "1 2 5", "vendor"],
    ["regexp is anchored", { regexp: { message: "ox" } }, "", "vendor"],
    ["fuzzy", { fuzzy: { message: { value: "brwn", fuzziness: 1 } } }, "1 2 3 4", "vendor"],
    ["ids", { ids: { values: ["1", "9"] } }, "1", "vendor"],
    ["match_phrase_prefix", { match_phrase_prefix: { message: "quick bro" } }, "1", "vendor"],
    ["match_phrase_prefix of one word", { match_phrase_prefix: { message: "fo" } }, "1 2 5", "vendor"],
    ["match_bool_prefix", { match_bool_prefix: { message: "fox brow" } }, "1 2 3 4 5", "vendor"],
    [
      "term looks at words of analysed text, in vendor",
      { term: { message: "quick brown fox" } },
      "",
      "vendor",
    ],
    [
      "term on keyword is the whole, in vendor",
      { term: { "message.keyword": "quick brown fox" } },
      "1",
      "vendor",
    ],
    ["match on keyword is the whole, in vendor", { match: { "message.keyword": "quick" } }, "4", "vendor"],
    ["match on keyword is words, in specification", { match: { "message.keyword": "fox" } }, "1 2"],
  ];
  test.each(matches)("%s", async (_, query, ids, fidelity) => {
    expect((await idsOf(store, query, fidelity)).join(" ")).toBe(ids);
  });

  test("a closer phrase scores higher", async () => {
    const scores = await scoresOf(store, { match_phrase: { message: { query: "quick brown", slop: 60 } } });
    expect(scores.get("1")).toBeGreaterThan(scores.get("2") ?? 0);
  });
});

test("a fuzzy word expands to the terms of present documents", async () => {
  const store = await storeOf([{ message: "gateway" }, { message: "gatewax" }]);
  const fuzzy = { match: { message: { query: "gatewaz", fuzziness: 1 } } };
  expect(await idsOf(store, fuzzy)).toEqual(["0", "1"]);
  await store.remove([{ index: "logs", id: "1" }]);
  await store.write([{ index: "logs", id: "2", source: JSON.stringify({ message: "gatewaz" }) }]);
  expect(await idsOf(store, fuzzy)).toEqual(["0", "2"]);
  const oneWord = { match: { message: { query: "gatewax", fuzziness: 1, max_expansions: 1 } } };
  // The removed term is the most similar; it must not take one of the expansions.
  expect(await idsOf(store, oneWord)).toEqual(["0"]);
  await store.close();
});
