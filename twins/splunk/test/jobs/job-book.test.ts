/** What the book of jobs keeps, and what it lets go. */

import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import { type LogStore, OutOfMemory } from "@offhook/log-store/store/log-store";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { asRestError } from "../../api/route.ts";
import { JobBook } from "../../jobs/job-book.ts";
import type { JobRequest } from "../../jobs/job-request.ts";
import { RowStream } from "../../jobs/row-stream.ts";
import { Slots } from "../../jobs/slots.ts";
import { createTables } from "../../world/tables.ts";
import { knowledgeOf, type SplBench, splBench } from "../support/spl.ts";

const knowledge = { ...knowledgeOf(), within: () => knowledge };
let bench: SplBench;
beforeAll(async () => {
  bench = await splBench(Array.from({ length: 10 }, (_, n) => ({ n })));
});
afterAll(() => bench.close());

function openBook(maxValues: number, store: LogStore = bench.store) {
  const tables = createTables();
  const book = new JobBook(
    {
      tables,
      clock: { now: () => 1_769_850_000_000 },
      knowledge,
      store: async () => store,
      timeZone: "UTC",
      log: pino({ level: "silent" }),
    },
    { maxValues },
  );
  return { book, tables };
}

const request = (search: string): JobRequest => ({
  search,
  owner: "admin",
  app: "search",
  sid: undefined,
  savedSearch: undefined,
  label: "",
  range: { earliestMs: undefined, latestMs: undefined },
  nowMs: undefined,
  maxCount: 50_000,
  maxTimeS: 0,
  ttlS: 600,
  statusBuckets: 0,
  priority: 5,
  quota: 0,
  given: { search },
});

test("when all results are too much the oldest are let go, and found again when somebody asks", async () => {
  const { book, tables } = openBook(25);
  const jobs = [];
  for (let n = 0; n < 3; n++) {
    const job = book.start(request("search * | fields n | fields - _*"));
    await job.done;
    jobs.push(job);
  }
  expect(jobs.map(({ rows }) => rows?.rows.length)).toEqual([undefined, 10, 10]);
  const [first] = jobs;
  expect(first?.row).toMatchObject({ state: "DONE", result_count: 10 });
  const before = tables.stateVersion;
  expect((await book.results(first?.sid ?? ""))?.rows).toHaveLength(10);
  expect(tables.stateVersion).toBe(before);
  await book.stop();
});

test("a search that needs more memory than there is fails in splunkd's words, and says what to do", async () => {
  const store = await openLogStore({ textIndex: "raw", memoryBytes: 32_000_000 });
  const { book } = openBook(1_000, store);
  const many =
    "| makeresults count=400000 | streamstats count | eval x=md5(tostring(count)).md5(tostring(count))";
  const failed = book.start(request(`${many} | stats values(x) AS all`));
  await failed.done;
  expect(failed.row).toMatchObject({ state: "FAILED" });
  const ended = `was forcefully terminated because its physical memory usage (30.517578 MB) has exceeded the 'search_process_memory_usage_threshold' (30.517578 MB) setting in limits.conf.`;
  expect(failed.notes.messages).toEqual([
    { type: "FATAL", text: `The search process with sid=${failed.sid} ${ended}` },
    { type: "INFO", text: expect.stringContaining("'head'") },
  ]);
  expect(asRestError(new OutOfMemory(32_000_000))).toMatchObject({
    status: 503,
    messages: [{ type: "ERROR", text: `The search process ${ended}` }],
  });
  const next = book.start(request("| makeresults"));
  await next.done;
  expect(next.row).toMatchObject({ state: "DONE", result_count: 1 });
  await book.stop();
  await store.close();
});

test("a row that goes ends its search", async () => {
  const { book, tables } = openBook(1_000);
  const job = book.start(request("search * | sort n"));
  tables.table("jobs").remove(job.sid);
  await job.done;
  expect(job.rows).toBeUndefined();
  expect(book.find(job.sid)).toBeUndefined();
  expect(tables.table("jobs").size).toBe(0);
  await book.stop();
});

test("more important searches have their turn first, and one that is ended gives its turn up", async () => {
  const slots = new Slots(1);
  const never = new AbortController().signal;
  const release = await slots.acquire({ priority: 5, owner: "admin", quota: 0 }, never);
  const order: string[] = [];
  const take = (name: string, priority: number, signal = never) =>
    slots.acquire({ priority, owner: "admin", quota: 0 }, signal).then((free) => {
      order.push(name);
      free();
    });
  const ended = new AbortController();
  const waiting = [take("low", 1), take("usual", 5), take("high", 9), take("usual too", 5)];
  const gone = take("ended", 10, ended.signal);
  expect(slots.waiting).toBe(5);
  ended.abort();
  await expect(gone).rejects.toThrow();
  release();
  await Promise.all(waiting);
  expect(order).toEqual(["high", "usual", "usual too", "low"]);
});

test("who has as many searches at work as their quota allows waits, and holds nobody else up", async () => {
  const slots = new Slots(10);
  const never = new AbortController().signal;
  const take = (owner: string) => slots.acquire({ priority: 5, owner, quota: 2 }, never);
  const [first, second] = await Promise.all([take("ann"), take("ann")]);
  const third = take("ann");
  expect([slots.waiting, slots.countRunning("ann")]).toEqual([1, 2]);
  const other = await take("bob");
  expect(slots.countRunning("bob")).toBe(1);
  other();
  expect(slots.waiting).toBe(1);
  first?.();
  (await third)();
  second?.();
  expect([slots.waiting, slots.countRunning("ann"), slots.countRunning("bob")]).toEqual([0, 0, 0]);
});

test("a search that becomes more important while it waits has its turn earlier", async () => {
  const slots = new Slots(1);
  const never = new AbortController().signal;
  const release = await slots.acquire({ priority: 5, owner: "admin", quota: 0 }, never);
  const order: string[] = [];
  const take = async (name: string, claim: { priority: number }) => {
    const free = await slots.acquire(Object.assign(claim, { owner: "admin", quota: 0 }), never);
    order.push(name);
    free();
  };
  const late = { priority: 5 };
  const waiting = [take("first", { priority: 5 }), take("second", late)];
  late.priority = 9;
  release();
  await Promise.all(waiting);
  expect(order).toEqual(["second", "first"]);
});

test("rows that nobody takes for ten minutes end their search, and those that are taken do not", async () => {
  vi.useFakeTimers();
  try {
    const stream = new RowStream({ maxRows: 10, offset: 0, count: 10, firstRows: 10 }, undefined);
    const slice = { fields: [], rows: [[]], from: 0, hasMore: true };
    const taken = stream.write(slice);
    expect(await stream.read()).toBe(slice);
    await taken;
    const left = expect(stream.write(slice)).rejects.toThrow("its rows were not read in time");
    await vi.advanceTimersByTimeAsync(600_000);
    await left;
  } finally {
    vi.useRealTimers();
  }
});
