/** Pairs of queries for which Elasticsearch 8.15 returns the same documents and scores; each pair was sent to a real server. */

import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scoresOf, storeOf } from "./support.ts";

const events = [
  { a: "red green blue", b: "red", tag: "one", n: 1 },
  { a: "red red", b: "blue green", tag: "once", n: 2 },
  { a: "green in the blue", b: "greens", tag: ["one", "two"], n: 3 },
  { a: "blue", b: "web-1 red", tag: "two", n: 4 },
  { a: "rend", b: "grean", tag: "three", n: 5 },
  { a: "the red of green", b: "running", tag: "three" },
];

let store: LogStore;
beforeAll(async () => {
  store = await storeOf(events);
});
afterAll(() => store.close());

const match = (query: string, more: object = {}) => ({ match: { a: { query, ...more } } });
const term = (value: string) => ({ term: { a: value } });
const bool = (should: object[], more: object = {}) => ({ bool: { should, ...more } });
const words = (...values: string[]) => values.map(term);
const simple = (query: string, more: object = {}) => ({
  simple_query_string: { query, fields: ["a"], ...more },
});
const lucene = (query: string, more: object = {}) => ({ query_string: { query, fields: ["a"], ...more } });
const multi = (fields: string[]) => ({ multi_match: { query: "red", fields } });
const none = { match_none: {} };
const excluding = (value: string) => ({
  bool: { should: { match_all: {} }, must_not: term(value), minimum_should_match: 1 },
});

const pairs: [query: object, like: object][] = [
  // Without required clauses one optional clause must match, whatever the minimum.
  [bool(words("red"), { minimum_should_match: 0 }), term("red")],
  [bool(words("red"), { minimum_should_match: "75%" }), term("red")],
  [bool(words("red"), { minimum_should_match: -2 }), term("red")],
  [bool(words("red"), { minimum_should_match: 2 }), none],
  [bool(words("red", "red"), { minimum_should_match: 2 }), bool(words("red", "red"))],
  [bool([none, term("red")], { minimum_should_match: 2 }), none],
  [{ bool: { filter: term("red"), minimum_should_match: 1 } }, none],
  [{ bool: { must_not: term("red"), minimum_should_match: 1 } }, { bool: { must_not: term("red") } }],
  [{ bool: { minimum_should_match: 2 } }, { match_all: {} }],
  [match("red", { minimum_should_match: 2 }), term("red")],
  [match("red green", { minimum_should_match: "-40%" }), match("red green", { operator: "and" })],
  [match("red green", { minimum_should_match: 0 }), bool(words("red", "green"))],
  [match("red green", { operator: "and", minimum_should_match: 1 }), none],
  [
    match("red green", { operator: "and", minimum_should_match: "-40%" }),
    { bool: { must: words("red", "green") } },
  ],
  [{ match_bool_prefix: { a: { query: "red g", operator: "and", minimum_should_match: 1 } } }, none],
  [lucene("red green", { minimum_should_match: 0 }), bool(words("red", "green"))],
  [lucene("(red green)", { minimum_should_match: 2 }), match("red green", { operator: "and" })],
  [lucene("(red green)^2", { minimum_should_match: 2 }), match("red green", { operator: "and", boost: 2 })],
  [lucene("+red", { minimum_should_match: 1 }), none],
  [lucene("+(red green)", { minimum_should_match: 2 }), none],
  [
    { query_string: { query: "web-1", fields: ["b"], minimum_should_match: 2 } },
    { match_phrase: { b: "web-1" } },
  ],
  [simple("red | green + blue", { minimum_should_match: 2 }), none],
  [simple("-red", { minimum_should_match: 2 }), none],
  // A negation matches every other document, each with 1.
  [simple("-red"), excluding("red")],
  [simple("green -red"), bool([term("green"), excluding("red")])],
  [simple("--red"), term("red")],
  [simple("- red"), term("red")],
  [simple("-+red"), term("red")],
  [simple('-"red'), term("red")],
  [simple("-(red"), term("red")],
  [simple('red + "" green'), match("red green")],
  [simple('"red green"~'), { match_phrase: { a: "red green" } }],
  [simple("red~x"), term("red")],
  // A field named in the text has no boost; for a field listed twice the last boost counts.
  [lucene("a:red", { fields: ["a^5", "b"] }), term("red")],
  [multi(["a^2", "a^3"]), multi(["a^3"])],
  [multi(["a^3", "a"]), multi(["a"])],
  [lucene("red", { fields: ["a^2", "a^3"] }), lucene("red", { fields: ["a^3"] })],
  [lucene("red", { fields: ["a^3", "a"] }), lucene("red", { fields: ["a^3"] })],
  [{ query_string: { query: ">=2", default_field: "n" } }, { range: { n: { gte: "2" } } }],
  [{ query_string: { query: "<3", default_field: "n" } }, { range: { n: { lt: "3" } } }],
  [{ ids: {} }, none],
  // `rewrite`: how the terms of a pattern are scored.
  [
    { fuzzy: { a: { value: "rend", fuzziness: 1, rewrite: "constant_score", boost: 2 } } },
    { constant_score: { filter: bool(words("red", "rend")), boost: 2 } },
  ],
  [
    match("rend", { fuzziness: 1, fuzzy_rewrite: "constant_score" }),
    { constant_score: { filter: bool(words("red", "rend")) } },
  ],
  [{ prefix: { a: { value: "re", rewrite: "scoring_boolean" } } }, bool(words("red", "rend"))],
  [{ wildcard: { a: { value: "re*", rewrite: "top_terms_1" } } }, term("red")],
  [
    { regexp: { a: { value: "re.*", rewrite: "top_terms_boost_1", boost: 3 } } },
    { constant_score: { filter: term("red"), boost: 3 } },
  ],
  [
    { prefix: { "tag.keyword": { value: "tw", rewrite: "scoring_boolean" } } },
    { term: { "tag.keyword": "two" } },
  ],
  [
    { function_score: { query: term("red"), weight: 0.5, boost_mode: "replace", boost: 4 } },
    { constant_score: { filter: term("red"), boost: 0.5 } },
  ],
  // Words that an analyzer drops leave a gap.
  [match("The red", { analyzer: "stop" }), term("red")],
  [match("Red", { analyzer: "whitespace" }), none],
  [{ match_phrase: { a: { query: "in the blue", analyzer: "stop" } } }, term("blue")],
  [{ match_phrase: { a: { query: "green blue", analyzer: "stop" } } }, { match_phrase: { a: "green blue" } }],
  [{ match: { b: { query: "greens", analyzer: "english" } } }, { match: { b: "green" } }],
  [
    { match: { "tag.keyword": { query: "one two", analyzer: "standard" } } },
    bool([{ term: { "tag.keyword": "one" } }, { term: { "tag.keyword": "two" } }]),
  ],
];

test.each(pairs.map(([query, like]) => [JSON.stringify(query), query, like] as const))(
  "%s",
  async (_, query, like) => {
    const [found, wanted] = [await scoresOf(store, query, "vendor"), await scoresOf(store, like, "vendor")];
    expect([...found.keys()]).toEqual([...wanted.keys()]);
    for (const [id, score] of wanted) expect(found.get(id)).toBeCloseTo(score, 5);
  },
);

test("a word that an analyzer drops from a phrase leaves a gap", async () => {
  const phrase = { match_phrase: { a: { query: "green of a blue", analyzer: "stop" } } };
  expect([...(await scoresOf(store, phrase, "vendor")).keys()]).toEqual(["2"]);
});
