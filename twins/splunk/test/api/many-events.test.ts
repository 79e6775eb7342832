/** Pages of many events, and searches over them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

const EVENTS = 3000;
let splunk: SplunkSandbox;
let sids: { events: string; report: string };
beforeAll(async () => {
  splunk = await startSplunk();
  const beganMs = Date.UTC(2026, 0, 31);
  await splunk.add(
    ...Array.from({ length: EVENTS }, (_, n) => ({
      _id: `e${n}`,
      "@timestamp": new Date(beganMs + n * 1000).toISOString(),
      n,
      text: n % 10 === 0 ? "tenth" : "other",
    })),
  );
  const start = async (search: string) => {
    const given = { search, exec_mode: "blocking", output_mode: "json" };
    return (await splunk.ask("POST", "/services/search/jobs", given)).body.sid;
  };
  sids = { events: await start("search *"), report: await start("search * | stats count by text") };
});
afterAll(() => splunk.stop());

async function page(sid: string, of: string, parameters: Parameters) {
  const path = `/services/search/v2/jobs/${sid}/${of}`;
  const { body } = await splunk.ask("POST", path, { output_mode: "json", ...parameters });
  return body;
}
const numbers = (body: { results: { n: string }[] }) => body.results.map(({ n }) => Number(n));

test.each(["events", "results", "results_preview"])("%s of many are searched, first to last", async (of) => {
  const found = await page(sids.events, of, { search: "search tenth n>2900 | fields n", count: 3 });
  expect([numbers(found), found.post_process_count]).toEqual([[2990, 2980, 2970], 9]);
  const counted = await page(sids.events, of, { search: "stats count by text" });
  expect(counted.results).toEqual([
    { text: "other", count: "2700" },
    { text: "tenth", count: "300" },
  ]);
});

test("the events of a report are found by a search, and in a part of the time", async () => {
  const found = await page(sids.report, "events", { search: "search tenth | head 2" });
  expect(numbers(found)).toEqual([2990, 2980]);
  const latest = `${Date.UTC(2026, 0, 31) / 1000 + 100}`;
  const early = { latest_time: latest, search: "search tenth | head 2" };
  expect(numbers(await page(sids.report, "events", early))).toEqual([90, 80]);
  expect(numbers(await page(sids.events, "events", early))).toEqual([90, 80]);
});

test.each(["events", "report"] as const)(
  "pages of the events of a search for %s are any of them",
  async (kind) => {
    const of = (parameters: Parameters) => page(sids[kind], "events", parameters);
    const deep = await of({ count: 3, offset: 2500 });
    expect([numbers(deep), deep.init_offset]).toEqual([[499, 498, 497], 2500]);
    expect(numbers(await of({ count: 2, offset: -2 }))).toEqual([1, 0]);
    expect(numbers(await of({ count: 5, offset: 2998 }))).toEqual([1, 0]);
    expect((await of({ count: 5, offset: 9000 })).results).toEqual([]);
    const all = numbers(await of({ count: 0 }));
    expect(all).toEqual(Array.from({ length: EVENTS }, (_, n) => EVENTS - 1 - n));
  },
);

test("events say which of all they are, on a later page too", async () => {
  const { results } = await page(sids.events, "events", { count: 2, offset: 2500 });
  expect(results.map(({ _serial }: { _serial: string }) => _serial)).toEqual(["2500", "2501"]);
});
