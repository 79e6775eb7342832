/** The summary of a search job: which events and fields it is of, over plain HTTP and through the vendor's client. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
let sid: string;
beforeAll(async () => {
  splunk = await startSplunk();
  await splunk.add(
    ...Array.from({ length: 12 }, (_, n) => ({
      _id: `e${n}`,
      "@timestamp": new Date(Date.UTC(2026, 0, 31, 9, n)).toISOString(),
      order_number: n,
      status: n < 9 ? "ok" : "Failed",
      ...(n < 3 ? { rare: "x" } : {}),
    })),
  );
  const job = await splunk.ask("POST", JOBS, {
    output_mode: "json",
    search: "search *",
    exec_mode: "blocking",
    status_buckets: 100,
    earliest_time: "2026-01-31T09:00:00.000+00:00",
    latest_time: "2026-01-31T09:12:00.000+00:00",
  });
  sid = job.body.sid;
});
afterAll(() => splunk.stop());

const JOBS = "/services/search/v2/jobs";

const summaryOf = (parameters: Parameters) =>
  splunk.ask("GET", `${JOBS}/${sid}/summary`, { output_mode: "json", ...parameters });
const bodyOf = async (parameters: Parameters) => (await summaryOf(parameters)).body;

test("f and field_list: these fields alone, and all that there are without them", async () => {
  const fields = async (parameters: Parameters) => Object.keys((await bodyOf(parameters)).fields).sort();
  expect(await fields({ f: "status" })).toEqual(["status"]);
  expect(await fields({ f: ["status", "order_*"], field_list: "rare" })).toEqual([
    "order_number",
    "rare",
    "status",
  ]);
  expect(await fields({})).toEqual(expect.arrayContaining(["host", "order_number", "rare", "status"]));
});

test("top_count: so many of the most frequent values, the most frequent first", async () => {
  const values = async (top_count: number) =>
    (await bodyOf({ f: "status", top_count })).fields.status.modes.map(
      ({ value }: { value: string }) => value,
    );
  expect(await values(1)).toEqual(["ok"]);
  expect(await values(10)).toEqual(["ok", "Failed"]);
});

test("min_freq: fields that are in so large a part of the events", async () => {
  const fields = async (min_freq: number) =>
    Object.keys((await bodyOf({ f: ["rare", "status"], min_freq })).fields);
  expect((await fields(0)).sort()).toEqual(["rare", "status"]);
  expect((await fields(0.25)).sort()).toEqual(["rare", "status"]);
  expect(await fields(0.26)).toEqual(["status"]);
  for (const wrong of ["2", "-1", "some"]) {
    const refused = await summaryOf({ min_freq: wrong });
    expect([refused.status, refused.body.messages[0].text]).toEqual([400, "Invalid min_freq."]);
  }
});

test("earliest_time and latest_time: events of that part of the time, and its range", async () => {
  const part = await bodyOf({
    f: "order_number",
    earliest_time: "2026-01-31T09:04:00.000+00:00",
    latest_time: "01/31/2026:09:07:00",
  });
  expect(part).toMatchObject({
    earliest_time: "2026-01-31T09:04:00.000+00:00",
    latest_time: "2026-01-31T09:07:00.000+00:00",
    duration: 180,
    event_count: 3,
    fields: { order_number: { count: 3, min: "4", max: "6" } },
  });
  expect((await summaryOf({ earliest_time: "soon" })).status).toBe(400);
});

test("search: events one of whose values has that text, in any case", async () => {
  const found = await bodyOf({ search: "failed", f: ["order_number", "status"] });
  expect(found).toMatchObject({
    event_count: 3,
    fields: { order_number: { min: "9", max: "11" }, status: { distinct_count: 1 } },
  });
  expect(await bodyOf({ search: "nowhere" })).toMatchObject({ event_count: 0, fields: {} });
});

test("histogram: the events over time when it is asked for, in either form", async () => {
  expect((await bodyOf({})).histogram).toEqual([]);
  const { histogram } = await bodyOf({ histogram: 1, search: "failed" });
  type Bar = { total_count: number; duration: number; earliest_time: number };
  expect(histogram.map(({ total_count }: Bar) => total_count)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
  expect(histogram[0]).toMatchObject({ duration: 60, earliest_time: 1_769_850_000 });
  const { text } = await summaryOf({ histogram: 1, output_mode: "xml", f: "status" });
  expect(text).toContain("<histogram>");
  expect(text.match(/<bucket c='1'/g)).toHaveLength(12);
  expect((await summaryOf({ output_mode: "xml" })).text).not.toContain("<histogram>");
});

test("output_mode: XML or JSON, and no other", async () => {
  const xml = await summaryOf({ output_mode: "", f: "status", output_time_format: "%H:%M" });
  expect(xml.text).toContain("<summary earliest_time='09:00' latest_time='09:12' duration='720' c='12'>");
  expect((await summaryOf({ output_mode: "csv" })).status).toBe(400);
});

test("the vendor's client reads it with its arguments", async () => {
  const service = splunk.client();
  await service.login();
  const job = await service.getJob(sid);
  const [summary] = await job.summary({ output_mode: "json", f: "status", search: "failed" });
  expect(summary).toMatchObject({
    event_count: 3,
    fields: { status: { modes: [{ value: "Failed", count: 3 }] } },
  });
});
