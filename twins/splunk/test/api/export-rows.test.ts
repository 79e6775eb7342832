/** An export has all rows that its search finds, however many, and no more of them are here at a time than a slice or two. */
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { QueryInterrupted } from "@offhook/log-store/store/log-store";
import { CursorTable } from "@offhook/log-store/store/result-cursor";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { MAX_RUNNING } from "../../jobs/job-book.ts";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";
import { writeManyEvents } from "../support/many-events.ts";

const EVENTS = 120_000;
const JOBS = "/services/search/v2/jobs";

let folder: string;
let splunk: SplunkSandbox;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "offhook-export-"));
  const dataset = path.join(folder, "events.duckdb");
  await writeManyEvents(dataset, EVENTS, 2);
  splunk = await startSplunk({}, dataset);
});
afterAll(async () => {
  await splunk.stop();
  await rm(folder, { recursive: true });
});
afterEach(() => vi.restoreAllMocks());

const newestFirst = Array.from({ length: EVENTS }, (_, n) => EVENTS - 1 - n);

async function exported(parameters: Parameters): Promise<string> {
  const form = { search: "search * | table n", output_mode: "csv", preview: 0, ...parameters };
  const { status, text } = await splunk.ask("POST", `${JOBS}/export`, form);
  expect(status, text.slice(0, 500)).toBe(200);
  return text;
}

const linesOf = (text: string) => text.trimEnd().split("\n");
const resultsOf = (text: string) =>
  linesOf(text)
    .map((line) => JSON.parse(line))
    .filter(({ result }) => result !== undefined);

/** The rows of CSV as numbers, below the line of names. */
const tabled = async (parameters: Parameters = {}) =>
  linesOf(await exported(parameters))
    .slice(1)
    .map(Number);

/** More than sockets take: 70 MB. */
const WIDE = `search * | eval wide=${Array(8).fill("text").join(".")} | table n wide`;

/** An export as it comes, to be read when it is wanted. */
function opened(parameters: Parameters = {}): Promise<http.IncomingMessage> {
  const form = { search: WIDE, output_mode: "json", preview: "0", ...parameters };
  const headers = {
    authorization: "Bearer splunk-twin-token",
    "content-type": "application/x-www-form-urlencoded",
  };
  return new Promise((resolve, reject) => {
    const request = http.request(`${splunk.url}${JOBS}/export`, { method: "POST", headers, agent: false });
    request.once("response", resolve).once("error", reject);
    request.end(new URLSearchParams(form as Record<string, string>).toString());
  });
}

async function textOf(response: http.IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}

async function jobs(): Promise<{ content: { dispatchState: string } }[]> {
  return (await splunk.ask("GET", JOBS, { output_mode: "json", count: 0 })).body.entry;
}

async function untilNoJobs(): Promise<void> {
  while ((await jobs()).length > 0) await new Promise((resolve) => setImmediate(resolve));
}

test("as JSON all rows come in their order, numbered, and the last says that it is the last", async () => {
  const rows = linesOf(await exported({ output_mode: "json" })).map((line) => JSON.parse(line));
  expect(rows.map(({ result }) => Number(result.n))).toEqual(newestFirst);
  expect(rows.map(({ offset }) => offset)).toEqual(Array.from({ length: EVENTS }, (_, n) => n));
  expect(rows.flatMap(({ lastrow }, index) => (lastrow ? [index] : []))).toEqual([EVENTS - 1]);
  expect(await jobs()).toEqual([]);
});

test("as CSV all rows come in their order below one line of names, with the vendor's client too", async () => {
  const text = await exported({});
  expect(text).toBe(`n\n${newestFirst.join("\n")}\n`);
  const client = splunk.client();
  await client.login();
  const form = { search: "search * | table n", output_mode: "csv", preview: 0 };
  // The client gives what is no JSON as a text in JSON.
  expect(JSON.parse(String((await client.post("search/v2/jobs/export", form)).data)) === text).toBe(true);
});

test("as raw text all events come in their order", async () => {
  const lines = linesOf(await exported({ output_mode: "raw", search: "search *" }));
  expect(lines.map((line) => JSON.parse(line).n)).toEqual(newestFirst);
});

test("as XML all rows are in one element", async () => {
  const text = await exported({ output_mode: "xml" });
  for (const once of [/<results /g, /<meta>/g, /<\/results>/g]) expect(text.match(once)).toHaveLength(1);
  expect(text.endsWith("</results>\n")).toBe(true);
  expect([...text.matchAll(/<text>(\d+)<\/text>/g)].map(([, n]) => Number(n))).toEqual(newestFirst);
});

test("as rows of JSON all are in one document, as columns each slice has its own and says where it begins", async () => {
  const { fields, rows } = JSON.parse(await exported({ output_mode: "json_rows" }));
  expect([fields, rows.map(([n]: [string]) => Number(n))]).toEqual([["n"], newestFirst]);
  const slices = linesOf(await exported({ output_mode: "json_cols" })).map((line) => JSON.parse(line));
  expect(slices.flatMap(({ columns }) => columns[0].map(Number))).toEqual(newestFirst);
  for (const { init_offset, columns } of slices) expect(newestFirst[init_offset]).toBe(Number(columns[0][0]));
});

test("previews come before the rows, and take none of them away", async () => {
  const text = await exported({ output_mode: "json", preview: 1 });
  const finals = resultsOf(text).filter(({ preview }) => !preview);
  expect(finals.map(({ result }) => Number(result.n))).toEqual(newestFirst);
});

test.each([
  ["a report", "stats count by n | sort 0 -n | fields n", newestFirst],
  [
    "rows with a field that is called as their number in a database",
    "rename n AS rowid | table rowid",
    newestFirst,
  ],
  [
    "several rows of each event",
    "eval n=mvappend(n, n) | mvexpand n | where n>=30000 | dedup n | table n",
    newestFirst.slice(0, 90_000),
  ],
  ["rows that depend on those before them", "streamstats count | eval n=120000-count | table n", newestFirst],
  ["another order", "sort 0 n | table n", newestFirst.toReversed()],
])(
  "all rows come of %s",
  async (_what, commands, rows) => {
    expect(await tabled({ search: `search * | ${commands}` })).toEqual(rows);
  },
  60_000,
);

test("what is another value each time is found once: what a row was chosen by is what it shows", async () => {
  const found = await tabled({ search: "search * | eval r=random()%10 | where r>0 | table r" });
  expect(found.length).toBeGreaterThan(100_000);
  expect(found.length).toBeLessThan(115_000);
  expect(found.filter((r) => r <= 0)).toEqual([]);
});

test.each([
  ["count", { count: 70_000 }, newestFirst.slice(0, 70_000)],
  ["a small count", { count: 3 }, newestFirst.slice(0, 3)],
  ["max_count", { max_count: 60_000 }, newestFirst.slice(0, 60_000)],
  ["max_count and a count beyond it", { max_count: 20_000, count: 30_000 }, newestFirst.slice(0, 20_000)],
  ["an offset", { offset: 100_000 }, newestFirst.slice(100_000)],
  ["an offset and a count", { offset: 90_000, count: 2 }, [29_999, 29_998]],
  ["an offset from the end", { offset: -2 }, [1, 0]],
  ["an offset behind the last row", { offset: 200_000 }, []],
] as const)(
  "an export is bounded by %s",
  async (_name, parameters, rows) => {
    expect(await tabled(parameters)).toEqual(rows);
  },
  60_000,
);

test("the rows are numbered by their place among all", async () => {
  const rows = resultsOf(await exported({ output_mode: "json", offset: 119_000, count: 2 }));
  expect(rows.map(({ offset }) => offset)).toEqual([119_000, 119_001]);
});

test("the results of a job keep their bound", async () => {
  const form = { search: "search * | fields n", exec_mode: "oneshot", output_mode: "csv", f: "n", count: 0 };
  const { text } = await splunk.ask("POST", JOBS, form);
  expect(linesOf(text.trim())).toHaveLength(1 + 50_000);
  const given = { ...form, exec_mode: "blocking", output_mode: "json" };
  const { sid } = (await splunk.ask("POST", JOBS, given)).body;
  for (const of of ["results", "events"]) {
    const page = await splunk.ask("GET", `${JOBS}/${sid}/${of}`, { output_mode: "csv", count: 0, f: "n" });
    expect(linesOf(page.text.trim())).toHaveLength(1 + 50_000);
  }
  await splunk.ask("DELETE", `${JOBS}/${sid}`);
});

test("who reads nothing holds the search, not others; what they write meanwhile does not come", async () => {
  const slices = vi.spyOn(CursorTable.prototype, "query");
  const response = await opened();
  for (let n = 0; n < 2; n++) {
    expect(await tabled({ search: `search n=${n} | table n` })).toEqual([n]);
    await splunk.add({ _id: `later-${n}`, "@timestamp": "2026-01-31T09:00:00.000Z", n: 200_000 });
  }
  expect((await jobs()).map(({ content }) => content.dispatchState)).toEqual(["RUNNING"]);
  const before = slices.mock.calls.length;
  const rows = linesOf(await textOf(response)).map((line) => Number(JSON.parse(line).result.n));
  expect(rows).toEqual(newestFirst);
  expect(before).toBeLessThan(slices.mock.calls.length);
  expect(await tabled({ search: "search n=200000 | table n" })).toEqual(Array(2).fill(200_000));
  await untilNoJobs();
});

test("an event that is removed before its slice is made does not come", async () => {
  const response = await opened({ search: WIDE.replace("search *", "search n<80000") });
  expect((await splunk.control("DELETE", "/data", { entity_type: "events", key: "e1" })).status).toBe(200);
  const rows = linesOf(await textOf(response)).map((line) => Number(JSON.parse(line).result.n));
  expect(rows).toEqual([...newestFirst.slice(40_000, -2), 0]);
  expect((await splunk.control("POST", "/reset", {})).status).toBe(200);
});

test("who leaves ends the search, and its place and its rows are given back", async () => {
  const dropped = vi.spyOn(CursorTable.prototype, "drop");
  for (let n = 0; n < MAX_RUNNING + 2; n++) {
    const response = await opened();
    expect(await jobs()).toHaveLength(1);
    response.destroy();
    await untilNoJobs();
  }
  const held = vi.spyOn(CursorTable.prototype, "query");
  expect(await tabled({ search: "search n=7 | table n" })).toEqual([7]);
  expect(held).not.toHaveBeenCalled();
  await Promise.all(dropped.mock.results.map(({ value }) => value));
});

test.each([
  ["its job is removed", () => splunk.ask("DELETE", `${JOBS}/gone`)],
  ["the events are put back", () => splunk.control("POST", "/reset", {})],
])(
  "an export ends unfinished when %s",
  async (_why, end) => {
    const response = await opened({ id: "gone" });
    expect((await end()).status).toBe(200);
    await expect(textOf(response)).rejects.toThrow("aborted");
    await untilNoJobs();
    expect(await tabled({ search: "search n=7 | table n" })).toEqual([7]);
  },
  60_000,
);

test("an export that is finalized ends with the rows that it has sent", async () => {
  const response = await opened({ id: "short" });
  const { status } = await splunk.ask("POST", `${JOBS}/short/control`, { action: "finalize" });
  expect(status).toBe(200);
  const lines = linesOf(await textOf(response)).map((line) => JSON.parse(line));
  const rows = lines.flatMap(({ result }) => (result === undefined ? [] : [Number(result.n)]));
  expect(rows).toEqual(newestFirst.slice(0, rows.length));
  expect(rows.length).toBeLessThan(EVENTS);
  expect(lines.at(-1)).toEqual({ preview: false, lastrow: true });
});

test("max_time ends an export with the rows that it has sent by then, and the last line says so", async () => {
  const query = CursorTable.prototype.query;
  let calls = 0;
  vi.spyOn(CursorTable.prototype, "query").mockImplementation(function (this: CursorTable, ...given) {
    return ++calls < 3 ? query.apply(this, given) : Promise.reject(new QueryInterrupted("deadline", 1));
  });
  const lines = linesOf(await exported({ output_mode: "json", max_time: 600 })).map((line) =>
    JSON.parse(line),
  );
  const rows = lines.flatMap(({ result }) => (result === undefined ? [] : [Number(result.n)]));
  expect(rows).toEqual(newestFirst.slice(0, rows.length));
  expect(rows.length).toBeLessThan(EVENTS);
  const text = "The search auto-finalized after it reached its time limit: 600 seconds.";
  expect(lines.at(-1)).toEqual({ preview: false, messages: [{ type: "INFO", text }], lastrow: true });
});

test("what goes wrong behind the first rows cuts the answer off", async () => {
  vi.spyOn(CursorTable.prototype, "query").mockRejectedValue(new QueryInterrupted("deadline", 1));
  await expect(opened().then(textOf)).rejects.toThrow("aborted");
  await untilNoJobs();
});
