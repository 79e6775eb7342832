/** Finding and reading the hits of a page. */
import { afterEach, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
afterEach(() => sandbox.stop());

/** @param size of each document's text */
async function write(ids: readonly number[], size = 1): Promise<void> {
  const operations = ids.flatMap((id) => [
    { index: { _index: "logs", _id: String(id) } },
    { kind: id % 2 === 0 ? "even" : "odd", text: "x".repeat(size) },
  ]);
  const { errors } = await sandbox.client.bulk({ operations });
  expect(errors).toBe(false);
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

/** The ids of a page. */
async function idsOf(body: object): Promise<(string | undefined)[]> {
  const { hits } = await sandbox.client.search({ index: "logs", _source: false, ...body });
  return hits.hits.map(({ _id }) => _id);
}

test("hits are read even after events before them were removed", async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  const megabyte = 1 << 20;
  for (const round of [0, 1, 2]) {
    const ids = numbers(round * 20, round * 20 + 20);
    await write(ids, megabyte);
    expect(await idsOf({ size: 20 })).toEqual(ids.map(String));
    if (round === 2) break;
    const operations = ids.map((id) => ({ delete: { _index: "logs", _id: String(id) } }));
    expect((await sandbox.client.bulk({ operations })).errors).toBe(false);
  }
});

test("equal hits are paged in the order of writing, and counted up to the requested bound", async () => {
  sandbox = await startSearch();
  const events = 12_000;
  for (let from = 0; from < events; from += 4_000) await write(numbers(from, from + 4_000));
  const search = (body: object) => sandbox.client.search({ index: "logs", ...body });
  for (const query of [{ match_all: {} }, { exists: { field: "kind" } }, { term: { text: "x" } }]) {
    expect((await search({ query })).hits.total).toEqual({ value: 10_000, relation: "gte" });
    expect((await search({ query, size: 0 })).hits.total).toEqual({ value: 10_000, relation: "gte" });
    const exact = await search({ query, track_total_hits: true });
    expect(exact.hits.total).toEqual({ value: events, relation: "eq" });
    expect(await idsOf({ query })).toEqual(numbers(0, 10).map(String));
    expect(await idsOf({ query, from: 9_990 })).toEqual(numbers(9_990, 10_000).map(String));
    expect(await idsOf({ query, sort: ["_doc"], size: 3 })).toEqual(["0", "1", "2"]);
    expect(await idsOf({ query, sort: [{ _doc: "desc" }], size: 2 })).toEqual(["11999", "11998"]);
  }
  const even = { query: { term: { kind: "even" } } };
  expect((await search(even)).hits.total).toEqual({ value: 6_000, relation: "eq" });
  expect(await idsOf({ ...even, size: 3, track_total_hits: 2 })).toEqual(["0", "2", "4"]);
  expect((await search({ ...even, size: 3, track_total_hits: 2 })).hits.total).toEqual({
    value: 2,
    relation: "gte",
  });
});

test("every event that scores alike has the score of its word", async () => {
  sandbox = await startSearch();
  await write(numbers(0, 10));
  const found = await sandbox.client.search({ query: { term: { kind: "odd" } }, size: 2 });
  // BM25 without norms: ln(1 + (10 − 5 + 0.5) / (5 + 0.5)).
  expect(found.hits.max_score).toBeCloseTo(Math.LN2, 6);
  expect(found.hits.hits.map(({ _score }) => _score)).toEqual([found.hits.max_score, found.hits.max_score]);
});
