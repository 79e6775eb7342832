/** Differences that stay, each with its reason. Everything else counts as a finding. */
import type { FuzzRequest } from "@offhook/platform/testing/fuzz/request";
import { type ComparedAnswer, type Difference, isObject } from "./differences.ts";

/** The whole of both, and what they answer. */
export interface Answers {
  request: FuzzRequest;
  real: ComparedAnswer;
  twin: ComparedAnswer;
}

interface Explanation {
  reason: string;
  explains(difference: Difference, answers: Answers): boolean;
}

/** Whether a part of an answer is what a hit is sorted by, where that is the order in the index. */
function isPlaceInIndex(path: string, { body }: FuzzRequest): boolean {
  const place = /\.sort\[(\d+)\]$/.exec(path)?.[1];
  if (place === undefined || body === undefined) return false;
  const search: unknown = JSON.parse(body.toString());
  const sort = isObject(search) ? search.sort : undefined;
  const key: unknown = Array.isArray(sort) ? sort[Number(place)] : sort;
  return key === "_doc" || (isObject(key) && "_doc" in key);
}

const says = (value: unknown, words: string) => JSON.stringify(value ?? null).includes(words);

const explanations: readonly Explanation[] = [
  {
    reason: "the twin refuses what it does not serve, and says so",
    explains: (_, { real, twin }) =>
      twin.status === 400 &&
      ["is not supported", "are not supported here"].some((words) => says(twin, words) && !says(real, words)),
  },
  {
    reason: "the twin does not list the tokens that a query's parser expected instead",
    explains: ({ real, twin }) => typeof real === "string" && real.startsWith(`${twin}\nWas expecting`),
  },
  {
    reason: "a server without its module aggregations, which is made for integration tests, has fewer types",
    explains: (_, { real }) =>
      /Unknown aggregation type \[(bucket_sort|bucket_selector|derivative|moving_fn)\]/.test(
        JSON.stringify(real),
      ),
  },
  {
    reason:
      "a server without its module analysis-common, which is made for integration tests, has fewer analyzers",
    explains: (_, { real }) => /analyzer \[(english|pattern)\] not found/.test(JSON.stringify(real)),
  },
  {
    reason: "a server without its module lang-painless, which is made for integration tests, runs no scripts",
    explains: (_, { real }) => says(real, "script_lang not supported [painless]"),
  },
  {
    reason: "a document's number in its index, which clients but give back, is Lucene's own",
    explains: ({ path }, { request }) => isPlaceInIndex(path, request),
  },
  {
    reason: "where a wrong request makes the vendor fail within itself, the twin says the same with a 400",
    explains: ({ path, real, twin }) =>
      path === "status" &&
      isObject(real) &&
      isObject(twin) &&
      real.status === 500 &&
      twin.status === 400 &&
      (real.type === "null_pointer_exception" ||
        (real.type === twin.type && withoutNumbers(real.reason) === withoutNumbers(twin.reason))),
  },
  {
    reason:
      "a document whose function gives no number fails the whole search with a 500 there; here it counts 0",
    explains: ({ path, real }) =>
      path === "status" && says(real, "function score query returned an invalid score: NaN"),
  },
];

/** Lucene numbers documents in its own way. */
function withoutNumbers(reason: unknown): string {
  return String(reason).replaceAll(/\d+/g, "0");
}

/** @returns why the answers differ; `undefined` for a finding */
export function explain(difference: Difference, answers: Answers): string | undefined {
  return explanations.find(({ explains }) => explains(difference, answers))?.reason;
}
