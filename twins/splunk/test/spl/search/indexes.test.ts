/** The indexes that a search covers, when their names are known before it runs. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { compilePipeline } from "../../../spl/compile-pipeline.ts";
import { defaultLimits } from "../../../spl/context/search-context.ts";
import { createSearchContext } from "../../../spl/create-context.ts";
import { parseSearch } from "../../../spl/parse-search.ts";
import { knowledgeOf, type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeEach(async () => {
  bench = await splBench([{ n: 1 }, { n: 2 }]);
});
afterEach(() => bench.close());

const write = (index: string, event: object) => bench.store.write([{ index, source: JSON.stringify(event) }]);
const found = async (text: string) => (await bench.search(`search ${text} | sort n`)).rows.map(({ n }) => n);

test("an index that is written to later is found from then on, and was in no search before", async () => {
  expect(await found("index=web")).toEqual([]);
  expect(await found("index=*")).toEqual([1, 2]);
  await write("web", { n: 3 });
  expect(await found("index=web")).toEqual([3]);
  expect(await found("index=*")).toEqual([1, 2, 3]);
  expect(await found("index=main")).toEqual([1, 2]);
  expect(await found("n>0")).toEqual([1, 2]);
});

test("names of indexes ignore case, and so do patterns of them", async () => {
  await write("Web", { n: 3 });
  await write("web", { n: 4 });
  await write("webshop", { n: 5 });
  expect(await found("index=WEB")).toEqual([3, 4]);
  expect(await found("index=wEb*")).toEqual([3, 4, 5]);
  expect(await found("index=w*b")).toEqual([3, 4]);
  expect(await found("index IN (Main, webSHOP)")).toEqual([1, 2, 5]);
});

test("an internal index is found by a name that begins as its own does", async () => {
  await write("_audit", { n: 3 });
  expect(await found("index=*")).toEqual([1, 2]);
  expect(await found("index=_*")).toEqual([3]);
  expect(await found("index=_AUDIT OR (index=main n=1)")).toEqual([1, 3]);
});

test("conditions on indexes combine with the rest of the search", async () => {
  await write("web", { n: 3 });
  expect(await found("NOT index=main")).toEqual([3]);
  expect(await found("index!=main")).toEqual([3]);
  expect(await found("index!=nowhere")).toEqual([1, 2, 3]);
  expect(await found("NOT index=nowhere n<3")).toEqual([1, 2]);
  expect(await found("(index=main n=1) OR (index=web n=3)")).toEqual([1, 3]);
  expect(await found("(index=main OR n=3) index=*")).toEqual([1, 2, 3]);
  expect(await found("index>main")).toEqual([3]);
});

test("a name with characters of a pattern's own is compared in the events", async () => {
  await write("a%b", { n: 3 });
  await write("axb", { n: 4 });
  expect(await found("index=a%b")).toEqual([3]);
  expect(await found("index=a*b")).toEqual([3, 4]);
  expect(await found("index=main")).toEqual([1, 2]);
});

test("a dataset's own field named index takes precedence over the event's index", async () => {
  await write("web", { n: 3, index: "own" });
  expect(await found("index=own")).toEqual([3]);
  expect(await found("index=web")).toEqual([]);
  expect(await found("index=main")).toEqual([1, 2]);
});

test("a restored store forgets indexes that were written since", async () => {
  await write("web", { n: 3 });
  expect(await found("index=*")).toEqual([1, 2, 3]);
  await bench.store.reset();
  expect([...(await bench.store.indexes())]).toEqual([]);
  await write("shop", { n: 7 });
  expect([...(await bench.store.indexes())]).toEqual(["shop"]);
  expect(await found("index=*")).toEqual([7]);
});

test("events that come after a search was prepared are not in it, whichever index they are in", async () => {
  const { store } = bench;
  const knowledge = knowledgeOf();
  const context = createSearchContext({
    ...{ store, knowledge, nowMs: 0, timeZone: "UTC", limits: defaultLimits },
    ...{ sid: "1.1", user: "admin", app: "search", deadlineMs: 60_000 },
    range: { earliestMs: undefined, latestMs: undefined },
    signal: new AbortController().signal,
    parse: (text) => parseSearch(text, knowledge),
    warn: () => {},
  });
  const relation = await compilePipeline(context.parse("search index=main | stats count"), context);
  await write("web", { n: 3 });
  await write("main", { n: 4 });
  expect((await context.run(relation, 10)).rows).toEqual([[2]]);
});
