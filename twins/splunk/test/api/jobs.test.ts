/** The life of a search job, over plain HTTP. */

import { holdStatements } from "@offhook/log-store/testing/held-statements";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
beforeAll(async () => {
  splunk = await startSplunk();
  await splunk.add(
    ...Array.from({ length: 30 }, (_, n) => ({
      _id: `e${n}`,
      "@timestamp": new Date(Date.UTC(2026, 0, 31, 9, 0, n)).toISOString(),
      n,
      host: `web-${n % 3}`,
    })),
  );
  // The store is open from here on.
  await search("search * | head 1", { exec_mode: "blocking" });
});
afterAll(() => splunk.stop());
afterEach(async () => {
  await splunk.control("POST", "/reset-world");
});

const JOBS = "/services/search/v2/jobs";
const json = { output_mode: "json" };

async function search(text: string, more: Record<string, string | number> = {}): Promise<string> {
  const answer = await splunk.ask("POST", JOBS, { ...json, search: text, ...more });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.sid;
}

async function stateOf(sid: string) {
  return (await splunk.ask("GET", `${JOBS}/${sid}`, json)).body.entry[0].content;
}

async function until(sid: string, state: string) {
  for (;;) {
    const content = await stateOf(sid);
    if (content.dispatchState === state) return content;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const control = (sid: string, action: string, more: Record<string, string | number> = {}) =>
  splunk.ask("POST", `${JOBS}/${sid}/control`, { ...json, action, ...more });

test("a job that is at work has no results yet, and counts none", async () => {
  const release = holdStatements();
  const sid = await search("search * | sort n");
  const running = await until(sid, "RUNNING");
  expect(running).toMatchObject({ isDone: false, doneProgress: 0, resultCount: 0 });
  expect((await splunk.ask("GET", `${JOBS}/${sid}/results`, json)).status).toBe(204);
  expect((await splunk.ask("GET", `${JOBS}/${sid}/events`, json)).status).toBe(204);
  release();
  const done = await until(sid, "DONE");
  expect(done).toMatchObject({
    isDone: true,
    doneProgress: 1,
    resultCount: 30,
    eventCount: 30,
    scanCount: 30,
  });
});

test.each([
  ["| makeresults count=3 | eval a=1 | stats count", 0.75],
  ["| gentimes start=-3", 0.5],
  ["| rest /services/authorization/roles | table title", 0.66667],
])("a search that only makes rows says how many of its commands are prepared: %s", async (text, share) => {
  const release = holdStatements();
  const sid = await search(text);
  for (;;) {
    const { doneProgress } = await stateOf(sid);
    expect(doneProgress).toBeLessThanOrEqual(share);
    if (doneProgress === share) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  release();
  expect(await until(sid, "DONE")).toMatchObject({ doneProgress: 1 });
});

test("what is not known before a search runs is absent, not zero", async () => {
  const release = holdStatements();
  const running = await Promise.all(Array.from({ length: 10 }, () => search("search * | sort n")));
  const queued = await search("search * | head 1");
  const content = await stateOf(queued);
  expect(content.dispatchState).toBe("QUEUED");
  for (const name of ["eventCount", "resultCount", "scanCount", "search"])
    expect(content).not.toHaveProperty(name);
  expect(content).toMatchObject({ isDone: false, ttl: 600, request: { search: "search * | head 1" } });
  release();
  await Promise.all([...running, queued].map((sid) => until(sid, "DONE")));
});

test("searches beyond those that may wait are refused", async () => {
  const release = holdStatements();
  const started = await Promise.all(Array.from({ length: 110 }, () => search("search * | head 1")));
  const refused = await splunk.ask("POST", JOBS, { ...json, search: "search * | head 1" });
  expect(refused.status).toBe(503);
  expect(refused.body.messages).toEqual([
    {
      type: "WARN",
      text: 'Search not executed: The maximum number of concurrent historical searches on this instance has been reached., concurrency_category="historical", concurrency_context="instance-wide", current_concurrency=10, concurrency_limit=10',
    },
  ]);
  for (const sid of started) await splunk.ask("DELETE", `${JOBS}/${sid}`);
  release();
});

test("a paused job waits at its next step, and goes on where it was", async () => {
  const release = holdStatements();
  const sid = await search("search * | head 2");
  await until(sid, "RUNNING");
  expect((await control(sid, "pause")).body.messages[0].text).toBe("Search job paused.");
  release();
  expect(await stateOf(sid)).toMatchObject({ dispatchState: "PAUSE", isPaused: true, isDone: false });
  expect((await control(sid, "unpause")).body.messages[0].text).toBe("Search job continued.");
  expect(await until(sid, "DONE")).toMatchObject({ isPaused: false, resultCount: 2 });
});

test("a finalized job is done with the events that it has", async () => {
  const release = holdStatements();
  const sid = await search("search * | sort n");
  await until(sid, "RUNNING");
  await control(sid, "finalize");
  release();
  expect(await until(sid, "DONE")).toMatchObject({ isFinalized: true });
});

test("a cancelled job is gone, and so is its row", async () => {
  const release = holdStatements();
  const sid = await search("search * | sort n");
  await until(sid, "RUNNING");
  expect((await control(sid, "cancel")).body.messages).toEqual([
    { type: "INFO", text: "Search job cancelled." },
  ]);
  release();
  const gone = await splunk.ask("GET", `${JOBS}/${sid}`, json);
  expect(gone.status).toBe(404);
  expect(gone.body.messages).toEqual([{ type: "FATAL", text: "Unknown sid." }]);
  expect((await control(sid, "pause")).status).toBe(404);
});

test("a search that takes longer than max_time is finalized and says so", async () => {
  const release = holdStatements();
  const sid = await search("search * | sort n", { max_time: 1 });
  await splunk.reached(sid, "DONE");
  release();
  const done = await stateOf(sid);
  expect(done.isFinalized).toBe(true);
  // It ran for as long as it was let.
  expect(done.runDuration).toBeGreaterThanOrEqual(0.9);
  expect(done.messages).toContainEqual({
    type: "INFO",
    text: "The search auto-finalized after it reached its time limit: 1 seconds.",
  });
});

test("a job is kept for its time to live by the sandbox's clock, and longer when it is touched or saved", async () => {
  const start = Date.parse((await splunk.control("GET", "/clock")).body.now);
  const at = (seconds: number) =>
    splunk.control("PUT", "/clock", { now: new Date(start + seconds * 1000).toISOString(), frozen: true });
  await at(0);
  const [plain, touched, saved, short] = await Promise.all([
    search("search * | head 1", { exec_mode: "blocking" }),
    search("search * | head 1", { exec_mode: "blocking" }),
    search("search * | head 1", { exec_mode: "blocking" }),
    search("search * | head 1", { exec_mode: "blocking", timeout: 60 }),
  ]);
  const save = await control(saved ?? "", "save");
  expect(save.body.messages[0].text).toBe("Search job saved.");
  await at(61);
  expect((await splunk.ask("GET", `${JOBS}/${short}`, json)).status).toBe(404);
  await at(599);
  expect((await stateOf(plain ?? "")).ttl).toBe(1);
  await control(touched ?? "", "touch");
  await at(600);
  expect((await splunk.ask("GET", `${JOBS}/${plain}`, json)).status).toBe(404);
  expect((await stateOf(touched ?? "")).ttl).toBe(599);
  expect(await stateOf(saved ?? "")).toMatchObject({ isSaved: true });
  await at(604_801);
  expect((await splunk.ask("GET", JOBS, json)).body.entry).toEqual([]);
});

test("each action of control is acknowledged, and an unknown one refused", async () => {
  const sid = await search("search * | head 1", { exec_mode: "blocking" });
  for (const [action, more, text] of [
    ["touch", {}, "Search job touched."],
    ["setttl", { ttl: 77 }, "The ttl of the search job was changed to 77."],
    ["enablepreview", {}, "Search job results preview enabled."],
    ["disablepreview", {}, "Search job results preview disabled."],
    ["finalize", {}, "Search job finalized."],
    ["pause", {}, "Search job paused."],
    ["unpause", {}, "Search job continued."],
  ] as const) {
    const answer = await control(sid, action, more);
    expect([action, answer.status, answer.body.messages]).toEqual([action, 200, [{ type: "INFO", text }]]);
  }
  expect((await control(sid, "setpriority", { priority: 3 })).status).toBe(200);
  expect(await stateOf(sid)).toMatchObject({ priority: 3, dispatchState: "DONE" });
  for (const [action, more, text] of [
    ["", {}, "Missing action."],
    ["explode", {}, "Unknown action."],
    ["setttl", {}, "You are missing the ttl argument for the ttl action."],
    ["setttl", { ttl: "soon" }, "The ttl should be a positive integer: soon."],
  ] as const) {
    const answer = await control(sid, action, more);
    expect([answer.status, answer.body.messages]).toEqual([400, [{ type: "FATAL", text }]]);
  }
});

test("what a job was started with is what it says, under the sid that was asked for", async () => {
  const sid = await search("search * | head 1", {
    id: "mine_1",
    exec_mode: "blocking",
    earliest_time: "2026-01-31T09:00:00.000+00:00",
    latest_time: "1769850010",
    status_buckets: 5,
  });
  expect(sid).toBe("mine_1");
  expect(await stateOf(sid)).toMatchObject({
    earliestTime: "2026-01-31T09:00:00.000+00:00",
    latestTime: "2026-01-31T09:00:10.000+00:00",
    searchEarliestTime: 1_769_850_000,
    searchLatestTime: 1_769_850_010,
    statusBuckets: 5,
    eventSearch: "search * | head 1",
    reportSearch: "",
    request: { id: "mine_1", latest_time: "1769850010" },
  });
  const again = await splunk.ask("POST", JOBS, { ...json, search: "search *", id: "mine_1" });
  expect(again.status).toBe(409);
});

test("the range is that of the request: its start is in it, its end is not", async () => {
  const count = async (earliest_time: string, latest_time: string) => {
    const answer = await splunk.ask("POST", JOBS, {
      ...json,
      exec_mode: "oneshot",
      count: 0,
      search: "search *",
      earliest_time,
      latest_time,
    });
    return answer.body.results.length;
  };
  expect(await count("1769850000", "1769850010")).toBe(10);
  expect(await count("0", "1769850000")).toBe(0);
  expect(await count("0", "now")).toBe(30);
  await splunk.control("PUT", "/clock", { now: "2026-01-31T09:00:20Z", frozen: true });
  expect(await count("-10s", "now")).toBe(10);
  expect(await count("@m", "+1m@m")).toBe(30);
});

test("what is wrong with a search is said in splunkd's words, and no job is made", async () => {
  const before = (await splunk.ask("GET", JOBS, json)).body.entry.length;
  const refusals: [Record<string, string>, number, string][] = [
    [
      {},
      400,
      "The required 'search' parameter for the Splunk platform REST API search/jobs endpoint is not specified. Specify the required 'search' parameter for the POST request on the endpoint and then retry your request.",
    ],
    [{ search: "abcd" }, 400, "Unknown search command 'abcd'."],
    [{ search: "search *", earliest_time: "soon" }, 400, "Invalid earliest_time."],
    [
      { search: "search *", latest_time: "soon" },
      400,
      "Invalid latest_time: latest_time must be after earliest_time.",
    ],
    [
      { search: "search *", earliest_time: "200", latest_time: "100" },
      400,
      "Invalid latest_time: latest_time must be after earliest_time.",
    ],
    [{ search: "search *", earliest_time: "rt-5m" }, 400, "Real-time searches are not served here."],
    [{ search: "search *", search_mode: "realtime" }, 400, "Real-time searches are not served here."],
    [{ search: "search *", exec_mode: "later" }, 400, "Invalid exec_mode."],
  ];
  for (const [parameters, status, text] of refusals) {
    const answer = await splunk.ask("POST", JOBS, { ...json, ...parameters });
    expect([answer.status, answer.body]).toEqual([status, { messages: [{ type: "FATAL", text }] }]);
  }
  expect((await splunk.ask("GET", JOBS, json)).body.entry.length).toBe(before);
});

test("who is not logged in searches nothing", async () => {
  const anonymous = await splunk.ask("GET", JOBS, json, { authorization: "Basic bm86bm8=" });
  expect(anonymous.status).toBe(401);
  expect(anonymous.headers.get("www-authenticate")).toBe('Basic realm="/splunk"');
  expect(anonymous.body).toEqual({ messages: [{ type: "ERROR", text: "Unauthorized" }] });
});

test("the session of a login is carried by its cookie, and ends with its logout", async () => {
  const login = await splunk.ask("POST", "/services/auth/login", {
    ...json,
    username: "admin",
    password: "splunk-twin-password",
    cookie: 1,
  });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect(cookie).toMatch(/^splunkd_8089=/);
  const asked = () =>
    fetch(`${splunk.url}/services/authentication/current-context?output_mode=json`, { headers: { cookie } });
  const context = await (await asked()).json();
  expect(context).toMatchObject({ entry: [{ content: { username: "admin", roles: ["admin"] } }] });
  const key = login.body.sessionKey;
  expect((await splunk.ask("DELETE", `/services/authentication/httpauth-tokens/${key}`)).status).toBe(200);
  expect((await asked()).status).toBe(401);
});

test("v1, v2 and a namespace are addresses of the same jobs", async () => {
  const sid = await search("search * | head 1", { exec_mode: "blocking" });
  for (const place of [
    "/services/search/jobs",
    "/services/search/v2/jobs",
    "/servicesNS/admin/search/search/jobs",
    "/servicesNS/-/-/search/v2/jobs",
    "/servicesNS/nobody/search/search/v2/jobs/",
  ]) {
    const path = `${place.replace(/\/$/, "")}/${sid}`;
    expect((await splunk.ask("GET", path, json)).body.entry[0].content.sid).toBe(sid);
    for (const method of ["GET", "POST"]) {
      expect((await splunk.ask(method, `${path}/results`, json)).body.results).toHaveLength(1);
    }
  }
});

test("a job that came with a snapshot has its results again", async () => {
  const sid = await search("search * | fields n | head 3", { exec_mode: "blocking" });
  const rows = async () =>
    (await splunk.ask("POST", `${JOBS}/${sid}/results`, { output_mode: "json_rows", f: "n" })).body.rows;
  const before = await rows();
  expect(before).toEqual([["29"], ["28"], ["27"]]);
  const { tables } = (await splunk.control("POST", "/snapshot")).body;
  if (tables.jobs === undefined) return;
  await splunk.control("POST", "/reset", {});
  expect((await splunk.ask("GET", `${JOBS}/${sid}`, json)).status).toBe(404);
  expect((await splunk.control("POST", "/reset", { data: tables })).status).toBe(200);
  await until(sid, "DONE");
  expect(await rows()).toEqual(before);
});
