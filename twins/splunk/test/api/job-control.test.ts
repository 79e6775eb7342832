/** What can be done to a search job, action by action, over plain HTTP and through the vendor's client. */

import { holdStatements } from "@offhook/log-store/testing/held-statements";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";
import { sha256 } from "../../world/seed.ts";

let splunk: SplunkSandbox;
beforeAll(async () => {
  splunk = await startSplunk();
});
afterAll(() => splunk.stop());
beforeEach(async () => {
  await splunk.control("POST", "/reset", {});
  await splunk.add({ _id: "1", "@timestamp": "2026-01-31T09:00:00Z", n: 1 });
});

const JOBS = "/services/search/v2/jobs";
const json = { output_mode: "json" };

async function started(more: Parameters = {}): Promise<string> {
  const form = { ...json, search: "search * | sort n", exec_mode: "blocking", ...more };
  const answer = await splunk.ask("POST", JOBS, form);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.sid;
}

const control = (sid: string, action: string, more: Parameters = {}) =>
  splunk.ask("POST", `${JOBS}/${sid}/control`, { ...json, action, ...more });

const contentOf = async (sid: string) =>
  (await splunk.ask("GET", `${JOBS}/${sid}`, json)).body.entry[0].content;

test("pause and unpause: a job that waits for its turn is paused in the queue, and waits on", async () => {
  const release = holdStatements();
  const normal = { exec_mode: "normal" };
  const running = await Promise.all(Array.from({ length: 10 }, () => started(normal)));
  const queued = await started(normal);
  expect((await contentOf(queued)).dispatchState).toBe("QUEUED");
  await control(queued, "pause");
  expect(await contentOf(queued)).toMatchObject({ dispatchState: "PAUSE", isPaused: true });
  await control(queued, "unpause");
  expect(await contentOf(queued)).toMatchObject({ dispatchState: "QUEUED", isPaused: false });
  await control(queued, "pause");
  release();
  await Promise.all(running.map((sid) => splunk.reached(sid, "DONE")));
  expect(await contentOf(queued)).toMatchObject({ dispatchState: "PAUSE", isPaused: true });
  await control(queued, "unpause");
  await splunk.reached(queued, "DONE");
});

test("setpriority: a job has the priority that it is given, which is a number from 0 to 10", async () => {
  const sid = await started();
  const changed = await control(sid, "setpriority", { priority: 9 });
  expect(changed.body.messages).toEqual([
    { type: "INFO", text: "The search job's priority was changed to 9." },
  ]);
  expect((await contentOf(sid)).priority).toBe(9);
  for (const priority of ["11", "-1", "high", ""]) {
    const { status, body } = await control(sid, "setpriority", { priority });
    const text =
      priority === ""
        ? "You are missing the priority for the set priority action."
        : "The priority should be in the following range: [0-10].";
    expect([status, body.messages]).toEqual([400, [{ type: "FATAL", text }]]);
  }
});

test("save keeps a job for a week, and unsave as long as it was to be kept", async () => {
  const sid = await started({ timeout: 77 });
  const saved = await control(sid, "save");
  expect(saved.body.messages[0].text).toBe("Search job saved.");
  expect(await contentOf(sid)).toMatchObject({ isSaved: true, ttl: 604_800 });
  await control(sid, "unsave");
  expect(await contentOf(sid)).toMatchObject({ isSaved: false, ttl: 77 });
});

test("touch: a job is kept for its time to live from now on", async () => {
  const start = Date.parse((await splunk.control("GET", "/clock")).body.now);
  const at = (seconds: number) =>
    splunk.control("PUT", "/clock", { now: new Date(start + seconds * 1000).toISOString(), frozen: true });
  await at(0);
  const sid = await started({ timeout: 100 });
  await at(60);
  expect((await contentOf(sid)).ttl).toBe(40);
  await control(sid, "touch");
  expect((await contentOf(sid)).ttl).toBe(100);
});

test("setworkloadpool: there is no pool to move to, and who may not move searches is told so first", async () => {
  const sid = await started();
  const refused = await control(sid, "setworkloadpool", { workload_pool: "a" });
  expect([refused.status, refused.body.messages[0].text]).toEqual([
    400,
    "Workload management is not enabled on this instance.",
  ]);
  const users = [{ name: "ann", password_sha256: sha256("ann"), roles: ["user"] }];
  await splunk.control("POST", "/data", { data: { users } });
  const headers = { authorization: `Basic ${Buffer.from("ann:ann").toString("base64")}` };
  const form = { ...json, search: "search *", exec_mode: "blocking" };
  const own = (await splunk.ask("POST", JOBS, form, headers)).body.sid;
  const action = { ...json, action: "setworkloadpool", workload_pool: "a" };
  expect((await splunk.ask("POST", `${JOBS}/${own}/control`, action, headers)).status).toBe(403);
});

test("the vendor's client pauses a job, lets it go on, keeps it and cancels it", async () => {
  const service = splunk.client();
  await service.login();
  const release = holdStatements();
  const job = await service.search("search * | sort n", { exec_mode: "normal" });
  await splunk.reached(job.sid, "RUNNING");
  await job.pause();
  await job.fetch();
  expect(job.properties()).toMatchObject({ isPaused: true, dispatchState: "PAUSE" });
  await job.unpause();
  await job.setPriority(8);
  release();
  await splunk.reached(job.sid, "DONE");
  await job.setTTL(1234);
  await job.touch();
  await job.fetch();
  expect(job.properties()).toMatchObject({ isPaused: false, priority: 8, ttl: 1234 });
  await job.cancel();
  expect((await splunk.ask("GET", `${JOBS}/${job.sid}`, json)).status).toBe(404);
});
