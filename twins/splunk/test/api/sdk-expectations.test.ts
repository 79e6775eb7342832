/** What the vendor's own SDKs expect of a server in their set-up and their suites. */

import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
beforeAll(async () => {
  splunk = await startSplunk();
  await splunk.add({ _time: "2026-01-15T10:00:00.250Z", _raw: "one event" });
});
afterAll(() => splunk.stop());

const JOBS = "/services/search/v2/jobs";
const json = (method: string, path: string, parameters: Parameters = {}) =>
  splunk.ask(method, path, { output_mode: "json", ...parameters });
const start = async (search: string, parameters: Parameters = {}): Promise<string> =>
  (await json("POST", JOBS, { search, exec_mode: "blocking", ...parameters })).body.sid;

describe("a restart", () => {
  test("ends sessions, searches at work and messages; tokens, results and objects outlive it", async () => {
    const login = await splunk.ask("POST", "/services/auth/login", {
      username: "admin",
      password: "splunk-twin-password",
      output_mode: "json",
    });
    const headers = { authorization: `Splunk ${login.body.sessionKey}` };
    const asSession = () => request("GET", `${splunk.url}/services/server/info`, { headers });
    await json("POST", "/services/messages", { name: "restart_required", value: "restart" });
    await json("POST", "/services/saved/searches", { name: "kept", search: "index=main" });
    const done = await start("search index=main | head 1");
    const paused = (await json("POST", JOBS, { search: "| makeresults", id: "paused" })).body.sid;
    expect(paused).toBe("paused");
    const before = (await json("GET", "/services/server/info")).body.entry[0].content.startup_time;
    await splunk.control("PUT", "/clock", { now: new Date((before + 60) * 1000).toISOString() });
    expect((await asSession()).status).toBe(200);

    expect((await json("POST", "/services/server/control/restart")).status).toBe(200);
    expect((await asSession()).status).toBe(401);
    expect((await json("GET", "/services/messages/restart_required")).status).toBe(404);
    expect((await json("GET", "/services/saved/searches/kept")).status).toBe(200);
    expect((await json("GET", `${JOBS}/${done}/results`)).body.results).toHaveLength(1);
    const after = (await json("GET", "/services/server/info")).body.entry[0].content.startup_time;
    expect(after).toBeGreaterThanOrEqual(before + 60);
    expect((await json("GET", "/services/server/control")).body.links.restart).toBe(
      "/services/server/control/restart",
    );
  });
});

describe("macros", () => {
  const MACROS = "/servicesNS/nobody/search/configs/conf-macros";
  const run = async (call: string) =>
    (await json("POST", JOBS, { search: `| makeresults | eval x=\`${call}\``, exec_mode: "oneshot" })).body;

  test("keep what their arguments have to be, and say what is wrong with others", async () => {
    const settings = {
      args: "n",
      definition: "$n$ * 2",
      validation: "n > 15",
      errormsg: "n must be more than 15",
    };
    const made = await json("POST", MACROS, { name: "twice(1)", ...settings });
    expect(made.body.entry[0].content).toMatchObject(settings);
    expect((await run("twice(16)")).results[0].x).toBe("32");
    for (const call of ["twice(3)", "twice(n=15)"]) {
      expect((await run(call)).messages).toEqual([
        { type: "FATAL", text: "Error in 'SearchParser': n must be more than 15" },
      ]);
    }
  });

  test("a validation that gives a text says itself what is wrong", async () => {
    const validation = 'validate(isnum(n), "a number is needed", n < 9, "at most 8")';
    await json("POST", MACROS, { name: "small(1)", args: "n", definition: "$n$", validation });
    expect((await run("small(8)")).results[0].x).toBe("8");
    expect((await run("small(a)")).messages[0].text).toContain("a number is needed");
    expect((await run("small(9)")).messages[0].text).toContain("at most 8");
  });
});

test("rights of what is somebody's own are given to nobody", async () => {
  const mine = { name: "mine", search: "index=main" };
  const made = await json("POST", "/servicesNS/admin/search/saved/searches", mine);
  expect(made.body.entry[0].acl).toMatchObject({ sharing: "user", perms: null });
  const shared = await json("POST", "/servicesNS/nobody/search/saved/searches", { ...mine, name: "shared" });
  expect(shared.body.entry[0].acl.perms).toEqual({ read: ["*"], write: ["admin", "power"] });
});

test.each(["json", "json_rows", "json_cols"])(
  "a search over results says in %s how many rows it left",
  async (mode) => {
    const sid = await start("search index=main");
    const page = await json("POST", `${JOBS}/${sid}/results`, { search: "stats count", output_mode: mode });
    expect(page.body.post_process_count).toBe(1);
  },
);

test("a job that is touched has changed", async () => {
  const sid = await start("search index=main");
  const updated = async () => Date.parse((await json("GET", `${JOBS}/${sid}`)).body.entry[0].updated);
  const before = await updated();
  await splunk.control("PUT", "/clock", { now: new Date(before + 60_000).toISOString() });
  expect(await updated()).toBe(before);
  await json("POST", `${JOBS}/${sid}/control`, { action: "touch" });
  expect((await updated()) - before).toBeGreaterThanOrEqual(60_000);
});

test("one event's timeline is a bucket of a millisecond", async () => {
  const sid = await start("search index=main", { status_buckets: 10 });
  const { buckets } = (await json("GET", `${JOBS}/${sid}/timeline`)).body;
  expect(buckets).toMatchObject([{ duration: 0.001, total_count: 1, earliest_time: 1768471200.25 }]);
});

test("to remove an account that there is not is a bad request", async () => {
  const answer = await json("DELETE", "/services/authentication/users/nobody-here");
  expect(answer.status).toBe(400);
  expect(answer.body.messages[0].text).toContain("nobody-here");
});

test("a new app begins at version 1.0.0", async () => {
  const made = await json("POST", "/services/apps/local", { name: "new_app" });
  expect(made.body.entry[0].content.version).toBe("1.0.0");
});

test.each([
  ["GET", "/services/data/inputs/monitor"],
  ["GET", "/servicesNS/nobody/search/storage/collections/config"],
  ["POST", "/services/datamodel/pivot/x"],
])("%s %s is out of its purpose: refused in splunkd's words", async (method, path) => {
  const answer = await json(method, path);
  expect(answer.status).toBe(404);
  expect(answer.body.messages[0].type).toMatch(/ERROR|FATAL/);
});
