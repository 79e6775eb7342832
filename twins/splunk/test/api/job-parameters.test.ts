/** What each argument of a new search does, over plain HTTP and through the vendor's client. */

import { holdStatements } from "@offhook/log-store/testing/held-statements";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
beforeAll(async () => {
  splunk = await startSplunk();
});
afterAll(() => splunk.stop());
beforeEach(async () => {
  await splunk.control("POST", "/reset", {});
  await splunk.add(
    ...Array.from({ length: 10 }, (_, n) => ({
      _id: `e${n}`,
      "@timestamp": new Date(Date.UTC(2026, 0, 31, 9, 0, n)).toISOString(),
      order_number: n,
      customer: `c${n % 2}`,
      host: `web-${n % 3}`,
    })),
  );
});

const JOBS = "/services/search/v2/jobs";
const json = { output_mode: "json" };

async function started(search: string, more: Parameters = {}): Promise<string> {
  const answer = await splunk.ask("POST", JOBS, { ...json, search, exec_mode: "blocking", ...more });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.sid;
}

const contentOf = async (sid: string) =>
  (await splunk.ask("GET", `${JOBS}/${sid}`, json)).body.entry[0].content;

const rowsOf = async (sid: string, of = "results") =>
  (await splunk.ask("GET", `${JOBS}/${sid}/${of}`, { ...json, count: 0 })).body.results;

async function refusalOf(more: Parameters) {
  const { status, body } = await splunk.ask("POST", JOBS, { ...json, search: "search *", ...more });
  return [status, body.messages[0].text];
}

const nowMs = async () => Date.parse((await splunk.control("GET", "/clock")).body.now);
const setClock = (ms: number) =>
  splunk.control("PUT", "/clock", { now: new Date(ms).toISOString(), frozen: true });

test("adhoc_search_level: a fast search of events shows the standing fields and those that it names", async () => {
  const fields = async (search: string, more: Parameters) =>
    Object.keys((await rowsOf(await started(search, more)))[0]);
  const all = await fields("search *", { adhoc_search_level: "smart" });
  expect(all).toEqual(expect.arrayContaining(["order_number", "customer", "host", "_raw"]));
  const fast = await fields("search *", { adhoc_search_level: "fast" });
  expect(fast).toEqual(expect.arrayContaining(["_raw", "_time", "host", "index", "source", "sourcetype"]));
  expect(fast).not.toContain("order_number");
  expect(fast).not.toContain("customer");
  const named = await fields("search customer=c1", { adhoc_search_level: "fast" });
  expect(named).toContain("customer");
  expect(named).not.toContain("order_number");
  const made = await fields("search * | eval doubled=order_number*2", { adhoc_search_level: "fast" });
  expect(made).toEqual(expect.arrayContaining(["doubled", "order_number"]));
  expect(await fields("search * | fields *", { adhoc_search_level: "fast" })).toContain("customer");
});

test("rf and required_field_list: a fast search shows these fields too, as one list", async () => {
  const sid = await started("search *", {
    adhoc_search_level: "fast",
    rf: ["customer"],
    required_field_list: "order_*",
  });
  expect(Object.keys((await rowsOf(sid))[0])).toEqual(expect.arrayContaining(["customer", "order_number"]));
});

test("adhoc_search_level: the events of a report are kept by a verbose search, and by one with a timeline", async () => {
  const report = "search * | stats count";
  const events = async (more: Parameters) => {
    const sid = await started(report, more);
    const { eventCount, eventAvailableCount, eventIsTruncated } = await contentOf(sid);
    return [(await rowsOf(sid, "events")).length, eventCount, eventAvailableCount, eventIsTruncated];
  };
  expect(await events({ adhoc_search_level: "verbose" })).toEqual([10, 10, 10, false]);
  expect(await events({ adhoc_search_level: "smart" })).toEqual([0, 10, 0, true]);
  expect(await events({ adhoc_search_level: "fast" })).toEqual([0, 10, 0, true]);
  expect(await events({ adhoc_search_level: "fast", status_buckets: 10 })).toEqual([10, 10, 10, false]);
  expect(await refusalOf({ adhoc_search_level: "slow" })).toEqual([400, "Invalid adhoc_search_level."]);
});

test("auto_finalize_ec: the search ends with so many events, and says so", async () => {
  const sid = await started("search * | stats count", { auto_finalize_ec: 4 });
  expect(await rowsOf(sid)).toEqual([{ count: "4" }]);
  const content = await contentOf(sid);
  expect(content).toMatchObject({ isFinalized: true, scanCount: 4 });
  expect(content.messages[0].text).toContain("auto-finalized");
  const whole = await started("search * | stats count", { auto_finalize_ec: 100 });
  expect(await contentOf(whole)).toMatchObject({ isFinalized: false, scanCount: 10 });
});

test("auto_cancel: a job that nobody asks for while it runs is gone", async () => {
  const release = holdStatements();
  const start = await nowMs();
  await setClock(start);
  const normal = { exec_mode: "normal", auto_cancel: 30 };
  const [lost, asked] = [await started("search * | sort host", normal), await started("search *", normal)];
  expect(await contentOf(lost)).toMatchObject({ runtime: { auto_cancel: "30", auto_pause: "0" } });
  await setClock(start + 20_000);
  await contentOf(asked);
  await setClock(start + 31_000);
  expect((await splunk.ask("GET", `${JOBS}/${lost}`, json)).status).toBe(404);
  expect((await splunk.ask("GET", `${JOBS}/${asked}`, json)).status).toBe(200);
  release();
  await splunk.reached(asked, "DONE");
  await setClock(start + 500_000);
  expect((await splunk.ask("GET", `${JOBS}/${asked}`, json)).status).toBe(200);
});

test("auto_pause: a job that nobody asks for pauses at its next step, once", async () => {
  const start = await nowMs();
  await setClock(start);
  const release = holdStatements();
  const sid = await started("search * | sort host", { exec_mode: "normal", auto_pause: 10 });
  await splunk.reached(sid, "RUNNING");
  await setClock(start + 11_000);
  release();
  await splunk.reached(sid, "PAUSE");
  await splunk.ask("POST", `${JOBS}/${sid}/control`, { ...json, action: "unpause" });
  await splunk.reached(sid, "DONE");
  expect((await rowsOf(sid)).length).toBe(10);
});

test("reuse_max_seconds_ago: the same search started again so soon is the same job", async () => {
  const start = await nowMs();
  await setClock(start);
  const first = await started("search * | head 2", { earliest_time: "0" });
  const again = { reuse_max_seconds_ago: 60, earliest_time: "0" };
  await setClock(start + 59_000);
  expect(await started("search * | head 2", again)).toBe(first);
  expect(await started("search * | head 3", again)).not.toBe(first);
  expect(await started("search * | head 2", { reuse_max_seconds_ago: 60 })).not.toBe(first);
  expect(await started("search * | head 2", { earliest_time: "0" })).not.toBe(first);
  await setClock(start + 200_000);
  expect(await started("search * | head 2", again)).not.toBe(first);
});

test("remote_server_list: events of other servers there are none", async () => {
  const count = async (remote_server_list: string) =>
    (await rowsOf(await started("search * | stats count", { remote_server_list })))[0].count;
  expect(await count("other-*")).toBe("0");
  expect(await count("other, splunk*")).toBe("10");
});

test("label, custom properties and preview are shown with the job", async () => {
  const sid = await started("search *", { label: "mine", "custom.ticket": "INC-1", preview: 1 });
  expect(await contentOf(sid)).toMatchObject({
    label: "mine",
    custom: { ticket: "INC-1" },
    isPreviewEnabled: true,
    request: { "custom.ticket": "INC-1" },
  });
  await splunk.ask("POST", `${JOBS}/${sid}`, { ...json, "custom.owner": "ann" });
  expect((await contentOf(sid)).custom).toEqual({ ticket: "INC-1", owner: "ann" });
});

test("enablepreview and disablepreview: a job that goes on shows what it has found, or nothing", async () => {
  const release = holdStatements();
  const sid = await started("search * | sort host", { exec_mode: "normal" });
  const control = (action: string) => splunk.ask("POST", `${JOBS}/${sid}/control`, { ...json, action });
  expect(await contentOf(sid)).toMatchObject({ isPreviewEnabled: false });
  await control("enablepreview");
  expect(await contentOf(sid)).toMatchObject({ isPreviewEnabled: true });
  await control("disablepreview");
  expect((await splunk.ask("GET", `${JOBS}/${sid}/results_preview`, json)).status).toBe(204);
  release();
  await splunk.reached(sid, "DONE");
  expect((await rowsOf(sid, "results_preview")).length).toBe(10);
});

test("arguments that change nothing on one server are taken when they are well formed, and named when they are not", async () => {
  const harmless = {
    allow_partial_results: "true",
    enable_lookups: 0,
    force_bundle_replication: 0,
    indexedRealtime: 1,
    indexedRealtimeOffset: 60,
    reduce_freq: 10,
    reload_macros: 1,
    rt_blocking: 0,
    rt_indexfilter: 1,
    rt_maxblocksecs: 60,
    rt_queue_size: 1000,
    spawn_process: 1,
    sync_bundle_replication: 0,
  };
  expect((await rowsOf(await started("search *", harmless))).length).toBe(10);
  for (const name of Object.keys(harmless)) {
    expect(await refusalOf({ [name]: "soon" })).toEqual([
      400,
      name === "status_buckets" ? "Invalid status buckets." : `Invalid ${name}.`,
    ]);
  }
  for (const name of ["replay_speed", "replay_et", "replay_lt", "workload_pool", "index_earliest"]) {
    const [status, text] = await refusalOf({ [name]: "1" });
    expect([status, text.startsWith(name)]).toEqual([400, true]);
  }
});

test("an argument that nobody documents is kept with the job, has no effect, and its log says so", async () => {
  const sid = await started("search *", { ui_dispatch_app: "search" });
  expect((await contentOf(sid)).request).toMatchObject({ ui_dispatch_app: "search" });
  const log = await splunk.ask("GET", `${JOBS}/${sid}/search.log`);
  expect(log.text).toContain("argument ui_dispatch_app is unknown: it has no effect");
});

test("the vendor's client hands its arguments on", async () => {
  const service = splunk.client();
  await service.login();
  const job = await service.search("search * | stats count", {
    exec_mode: "blocking",
    auto_finalize_ec: 3,
    adhoc_search_level: "verbose",
    label: "by client",
  });
  await job.fetch();
  expect(job.properties()).toMatchObject({ label: "by client", isFinalized: true });
  const [results] = await job.results({ output_mode: "json" });
  expect(results).toMatchObject({ results: [{ count: "3" }] });
});
