/**
 * Alerts of saved searches: when they are fired, how they are held back, and what of a schedule can be changed.
 * Proves a part of twins/SECURITY.md.
 */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { holdStatements } from "@offhook/log-store/testing/held-statements";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";
import { sha256 } from "../../world/seed.ts";

let splunk: SplunkSandbox;
let service: ReturnType<SplunkSandbox["client"]>;
beforeAll(async () => {
  splunk = await startSplunk();
});
afterAll(() => splunk.stop());
beforeEach(async () => {
  await splunk.control("POST", "/reset", {});
  await at("2026-01-31T09:00:00Z");
  await splunk.add(
    { _id: "1", "@timestamp": "2026-01-31T08:30:00.000Z", level: "error", host: "web-1", source: "a" },
    { _id: "2", "@timestamp": "2026-01-31T08:59:00.000Z", level: "error", host: "web-2", source: "a" },
    { _id: "3", "@timestamp": "2026-01-31T08:59:30.000Z", level: "info", host: "web-1", source: "b" },
  );
  service = splunk.client();
  await service.login();
});

const at = (now: string) => splunk.control("PUT", "/clock", { now, frozen: true });
const SAVED = "/services/saved/searches";
const ask = (method: string, path: string, parameters: Parameters = {}) =>
  splunk.ask(method, path, { output_mode: "json", ...parameters });
const contentOf = async (path: string, parameters: Parameters = {}) =>
  (await ask("GET", path, parameters)).body.entry[0].content;

/** Saves a search that is tracked, runs it with its actions, and counts the alerts that there are then. */
async function runs(search: string, settings: Parameters, more: Parameters = {}): Promise<number> {
  const given = { name: "alert", search, "alert.track": 1, ...settings };
  const made = await ask("POST", SAVED, given);
  if (made.status !== 201 && made.status !== 409) throw new Error(made.text);
  const { body } = await ask("POST", `${SAVED}/alert/dispatch`, { trigger_actions: 1, ...more });
  await (await service.getJob(body.sid)).track({ period: 5 }, { done: () => undefined });
  // The condition may be a search of its own.
  const alerts = async () => (await contentOf("/services/alerts/fired_alerts")).triggered_alert_count;
  if (settings.alert_condition === undefined) return alerts();
  for (;;) {
    const seen = await alerts();
    if (seen > 0) return seen;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("when an alert is fired", () => {
  const type = (alert_type: string, alert_comparator: string, alert_threshold: string) => ({
    alert_type,
    alert_comparator,
    alert_threshold,
  });
  test.each([
    ["always", "level=nothing", { alert_type: "always" }, 1],
    ["more events than", "level=error", type("number of events", "greater than", "1"), 1],
    ["not more events than", "level=error", type("number of events", "greater than", "2"), 0],
    ["fewer", "level=error", type("number of events", "less than", "3"), 1],
    ["as many", "level=error", type("number of events", "equal to", "2"), 1],
    ["not as many", "level=error", type("number of events", "not equal to", "2"), 0],
    ["hosts", "level=*", type("number of hosts", "equal to", "2"), 1],
    ["sources", "level=error", type("number of sources", "equal to", "1"), 1],
    ["more than before", "level=error", type("number of events", "rises by", "2"), 1],
    ["fewer than before", "level=error", type("number of events", "drops by", "1"), 0],
    ["custom", "level=*", { alert_type: "custom", alert_condition: "search level=info" }, 1],
    ["nothing that is known", "level=*", { alert_type: "custom" }, 0],
  ])("%s", async (_name, search, settings, alerts) => {
    expect(await runs(search, settings)).toBe(alerts);
  });

  test("more in percent than the run before", async () => {
    const settings = type("number of events", "rises by perc", "40");
    expect(await runs("level=*", settings, { "dispatch.latest_time": "2026-01-31T08:59:10Z" })).toBe(0);
    await at("2026-01-31T09:01:00Z");
    expect(await runs("level=*", settings)).toBe(1);
  });

  test("one that is not tracked leaves nothing, nor does a run without its actions, nor one that fails", async () => {
    expect(await runs("level=*", { "alert.track": 0 })).toBe(0);
    await ask("POST", `${SAVED}/alert`, { "alert.track": 1 });
    expect(await runs("x", {}, { trigger_actions: 0 })).toBe(0);
    await ask("POST", `${SAVED}/alert`, { search: "level=* | eval x=nosuch(1)" });
    await ask("POST", `${SAVED}/alert/dispatch`, { trigger_actions: 1 });
    expect((await contentOf("/services/alerts/fired_alerts")).triggered_alert_count).toBe(0);
  });
});

test("the vendor's client lists the alerts of a saved search, which are rows and expire", async () => {
  const searches = service.savedSearches({ owner: "admin", app: "search" });
  const saved = await searches.create({
    name: "failures",
    search: "level=error",
    "alert.track": 1,
    "alert.severity": 5,
    "alert.expires": "1h",
    actions: "email",
  });
  expect(saved.alertCount()).toBe(0);
  const [job] = await saved.dispatch({ trigger_actions: true });
  await job.track({ period: 5 }, { done: () => undefined });
  await saved.fetch();
  expect(saved.alertCount()).toBe(1);
  const groups = await service.firedAlertGroups({ owner: "admin", app: "search" }).fetch();
  expect(groups.list().map((group) => [group.name, group.count()])).toEqual([
    ["-", 1],
    ["failures", 1],
  ]);
  const [alerts] = (await groups.item("failures")?.list()) ?? [];
  const [alert] = alerts ?? [];
  expect(alert?.sid()).toBe(job.sid);
  expect([alert?.savedSearchName(), alert?.severity(), alert?.alertType()]).toEqual([
    "failures",
    5,
    "historical",
  ]);
  expect([alert?.isDigestMode(), alert?.triggeredAlertCount(), alert?.actions()]).toEqual([true, 2, "email"]);
  expect(alert?.triggerTime()).toBe(Date.parse("2026-01-31T09:00:00Z") / 1000);
  const { rows } = (await splunk.control("GET", "/data?entity_type=fired_alerts")).body;
  expect(rows).toMatchObject([{ saved_search: "failures", severity: 5, results: 2 }]);
  await at("2026-01-31T10:00:00Z");
  expect((await groups.item("failures")?.list())?.[0]).toEqual([]);
  await saved.remove();
  expect((await splunk.control("GET", "/data?entity_type=fired_alerts")).body.rows).toEqual([]);
});

test("an alert is forgotten, and one that is not there is a 404", async () => {
  await runs("level=error", {});
  const { body } = await ask("GET", "/services/alerts/fired_alerts/alert");
  const [{ name }] = body.entry;
  expect((await ask("DELETE", `/services/alerts/fired_alerts/${name}`)).status).toBe(200);
  expect((await ask("GET", "/services/alerts/fired_alerts/alert")).body.entry).toEqual([]);
  expect((await ask("DELETE", `/services/alerts/fired_alerts/${name}`)).status).toBe(404);
  expect((await ask("GET", "/services/alerts/fired_alerts/none")).status).toBe(404);
});

test.each([
  ["acl", { owner: "nobody", sharing: "app" }, "/servicesNS/nobody/search"],
  ["move", { app: "other" }, "/servicesNS/admin/other"],
  ["move", { app: "other", user: "nobody" }, "/servicesNS/nobody/other"],
])("a saved search that %s has changed (%j) keeps its alerts", async (action, changes, place) => {
  await ask("POST", "/services/apps/local", { name: "other" });
  await runs("level=error", {});
  const path = "/servicesNS/admin/search/saved/searches/alert";
  expect((await ask("POST", `${path}/${action}`, changes)).status).toBe(200);
  const { entry } = (await ask("GET", `${place}/alerts/fired_alerts/alert`)).body;
  expect(entry).toHaveLength(1);
  expect(entry[0].id).toContain(`${place}/alerts/fired_alerts/`);
  expect((await ask("DELETE", `${place}/saved/searches/alert`)).status).toBe(200);
  expect((await splunk.control("GET", "/data?entity_type=fired_alerts")).body.rows).toEqual([]);
});

test("alerts are held back for a period, until somebody acknowledges them", async () => {
  const settings = { "alert.suppress": 1, "alert.suppress.period": "10m" };
  expect(await runs("level=error", settings)).toBe(1);
  const held = () => contentOf(`${SAVED}/alert/suppress`);
  expect(await held()).toMatchObject({ suppressed: "1", expiration: "600" });
  await at("2026-01-31T09:09:59Z");
  expect(await runs("x", {})).toBe(1);
  expect(await held()).toMatchObject({ suppressed: "1", expiration: "1" });
  await at("2026-01-31T09:10:00Z");
  expect(await held()).toMatchObject({ suppressed: "0", expiration: "0" });
  expect(await runs("x", {})).toBe(2);
  await (await service.savedSearches().fetch()).item("alert")?.acknowledge();
  expect(await held()).toMatchObject({ suppressed: "0" });
  expect(await runs("x", {})).toBe(3);
  await ask("POST", `${SAVED}/alert/suppress`, { expiration: 60 });
  expect(await held()).toMatchObject({ suppressed: "1", expiration: "60" });
  await ask("POST", `${SAVED}/alert/suppress`, { expiration: 0 });
  expect(await held()).toMatchObject({ suppressed: "0" });
});

test("alerts of single results are held back by the values of fields, and acknowledged by them", async () => {
  const settings = {
    "alert.digest_mode": 0,
    "alert.suppress": 1,
    "alert.suppress.period": "1h",
    "alert.suppress.fields": "host",
  };
  // Three events on two hosts.
  expect(await runs("level=*", settings)).toBe(2);
  expect(await runs("x", {})).toBe(2);
  await ask("POST", `${SAVED}/alert/acknowledge`, { key: "web-2" });
  expect(await contentOf(`${SAVED}/alert/suppress`, { key: "web-1" })).toMatchObject({ suppressed: "1" });
  expect(await runs("x", {})).toBe(3);
});

test("an alert holds back those of its group", async () => {
  const group = { "alert.suppress": 1, "alert.suppress.period": "5m", "alert.suppress.group_name": "web" };
  await ask("POST", SAVED, { name: "other", search: "level=*", "alert.track": 1, ...group });
  expect(await runs("level=error", group)).toBe(1);
  expect(await contentOf(`${SAVED}/other/suppress`)).toMatchObject({ suppressed: "1", expiration: "300" });
});

test("a saved search is put to another time, and has its schedule again from then on", async () => {
  await ask("POST", SAVED, { name: "hourly", search: "x", is_scheduled: 1, cron_schedule: "0 * * * *" });
  const next = async () => (await contentOf(`${SAVED}/hourly`)).next_scheduled_time;
  expect(await next()).toBe("2026-01-31 10:00:00 UTC");
  const times = async () =>
    (await contentOf(`${SAVED}/hourly/scheduled_times`, { earliest_time: "now", latest_time: "+4h" }))
      .scheduled_times;
  const epoch = (text: string) => Date.parse(text) / 1000;
  expect(
    (await ask("POST", `${SAVED}/hourly/reschedule`, { schedule_time: "2026-01-31T11:30:00Z" })).status,
  ).toBe(200);
  expect(await next()).toBe("2026-01-31 11:30:00 UTC");
  expect(await times()).toEqual([epoch("2026-01-31T11:30:00Z"), epoch("2026-01-31T12:00:00Z")]);
  await at("2026-01-31T11:31:00Z");
  expect(await next()).toBe("2026-01-31 12:00:00 UTC");
  await ask("POST", SAVED, { name: "never", search: "x" });
  expect((await ask("POST", `${SAVED}/never/reschedule`, {})).status).toBe(400);
});

test("a run is kept as many periods of its schedule as it says, and goes by what is saved of its arguments", async () => {
  const settings = { is_scheduled: 1, cron_schedule: "0 * * * *", "args.level": "info" };
  await ask("POST", SAVED, { name: "own", search: "level=$args.level$", ...settings });
  const run = async (more: Parameters) => {
    const { body } = await ask("POST", `${SAVED}/own/dispatch`, more);
    const job = await service.getJob(body.sid);
    await job.track({ period: 5 }, { done: () => undefined });
    return job.properties();
  };
  expect(await run({})).toMatchObject({ resultCount: 1, ttl: 7200 });
  expect(await run({ "args.level": "error", "dispatch.ttl": "90" })).toMatchObject({
    resultCount: 2,
    ttl: 90,
  });
  for (const more of [{ "dispatch.sample_ratio": 10 }, { "dispatch.index_earliest": "-1h" }]) {
    expect((await ask("POST", `${SAVED}/own/dispatch`, more)).status).toBe(400);
  }
});

test("a saved search has the vendor's 217 settings, and those of actions for who asks", async () => {
  await ask("POST", SAVED, {
    name: "own",
    search: "| makeresults",
    "action.email.auth_password": "mail-secret-1",
  });
  const content = await contentOf(`${SAVED}/own`);
  const { "action.email.auth_password": password, ...others } = content;
  expect(Object.keys(others)).toHaveLength(217);
  expect(password).toMatch(/^\$7\$/);
  expect(others).toMatchObject({
    qualifiedSearch: " makeresults",
    "display.visualizations.mapping.tileLayer.maxZoom": "7",
    "dispatch.sample_ratio": "1",
    "alert.suppress": null,
    "durable.lag_time": 0,
    allow_data_time_skew: "0",
  });
  expect(await contentOf(`${SAVED}/own`, { listDefaultActionArgs: 1 })).toMatchObject({
    "action.email.maxtime": "5m",
    "action.summary_index._name": "summary",
  });
  expect((await splunk.control("GET", "/requests?limit=1000")).text).not.toContain("mail-secret-1");
  expect((await splunk.control("POST", "/snapshot")).text).not.toContain("mail-secret-1");
});

test("a saved search is shared, and given to another app", async () => {
  const searches = service.savedSearches({ owner: "admin", app: "search" });
  const saved = await searches.create({ name: "own", search: "x" });
  await saved.acl_update({ owner: "nobody", sharing: "global" });
  expect(saved.acl()).toMatchObject({ owner: "nobody", sharing: "global" });
  await ask("POST", "/servicesNS/nobody/search/saved/searches/own/move", { app: "launcher", user: "nobody" });
  expect((await ask("GET", "/servicesNS/nobody/launcher/saved/searches/own")).body.entry[0].acl.app).toBe(
    "launcher",
  );
});

describe("a schedule", () => {
  const rowsOf = async (table: string) =>
    (await splunk.control("GET", `/data?entity_type=${table}&limit=1000`)).body.rows;
  const add = async (name: string, settings: Parameters, search = "| makeresults | eval at=now()") => {
    const given = { name, search, is_scheduled: 1, cron_schedule: "0 * * * *", ...settings };
    const made = await ask("POST", SAVED, given);
    expect(made.status, made.text).toBe(201);
  };
  interface Run {
    name: string;
    saved_search: string;
    status: string;
    reason: string;
    scheduled_at: string;
  }
  /** The runs, once they are as wanted. */
  const runsWhen = async (wanted: (runs: readonly Run[]) => boolean): Promise<Run[]> => {
    for (;;) {
      const runs: Run[] = await rowsOf("scheduled_runs");
      if (wanted(runs)) return runs;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  /** The runs, once there are so many and none is at work. */
  const runsOnce = (count: number) =>
    runsWhen((runs) => runs.length >= count && runs.every(({ status }) => status !== "running"));
  const reached = (state: string) => runsWhen((runs) => runs.some(({ status }) => status === state));
  const times = (runs: readonly Run[]) => runs.map(({ scheduled_at }) => scheduled_at.slice(11, 16));

  test("runs a search when the clock comes to its time, as of that time, and says so everywhere", async () => {
    await add(
      "hourly",
      { "dispatch.ttl": "3p", "dispatch.earliest_time": "-1h" },
      "level=error | eval at=now()",
    );
    await at("2026-01-31T09:59:59.999Z");
    expect(await rowsOf("scheduled_runs")).toEqual([]);
    await at("2026-01-31T10:00:20Z");
    const [run] = await runsOnce(1);
    const epoch = Date.parse("2026-01-31T10:00:00Z") / 1000;
    expect(run).toMatchObject({
      name: expect.stringMatching(new RegExp(`^scheduler__admin__search__RMD5[0-9a-f]{16}_at_${epoch}_0$`)),
      saved_search: "hourly",
      owner: "admin",
      scheduled_at: "2026-01-31T10:00:00.000Z",
      dispatched_at: "2026-01-31T10:00:20.000Z",
      status: "success",
      result_count: 0,
    });
    const sid = run?.name ?? "";
    const { content } = (await ask("GET", `/services/search/jobs/${sid}`)).body.entry[0];
    expect(content).toMatchObject({
      isSavedSearch: true,
      label: "hourly",
      provenance: "scheduler",
      ttl: 10_800,
    });
    expect(content.earliestTime).toContain("2026-01-31T09:00:00");
    const { entry } = (await ask("GET", `${SAVED}/hourly/history`)).body;
    expect(entry[0]).toMatchObject({ name: sid, content: { isScheduled: true, isDone: true } });
    expect((await contentOf(`${SAVED}/hourly`)).next_scheduled_time).toBe("2026-01-31 11:00:00 UTC");
  });

  test("is a search's alone: without one, switched off or disabled, nothing runs", async () => {
    await add("none", { is_scheduled: 0 });
    await add("disabled", { disabled: 1 });
    await add("daily", { cron_schedule: "0 0 * * *" });
    await at("2026-01-31T12:30:00Z");
    await add("hourly", {});
    await at("2026-01-31T13:00:00Z");
    expect((await runsOnce(1)).map(({ saved_search }) => saved_search)).toEqual(["hourly"]);
  });

  test.each([
    ["in real time runs for the latest of the times that were missed", 1, ["12:00"]],
    ["that is continuous runs for each of them", 0, ["10:00", "11:00", "12:00"]],
  ])("%s", async (_name, realtime_schedule, expected) => {
    await add("hourly", { realtime_schedule });
    await at("2026-01-31T12:30:00Z");
    const runs = await runsOnce(expected.length);
    expect(times(runs)).toEqual(expected);
    for (const { name, scheduled_at } of runs) {
      const { results } = (await ask("GET", `/services/search/v2/jobs/${name}/results`)).body;
      expect(results[0].at).toBe(String(Date.parse(scheduled_at) / 1000));
    }
    await at("2026-01-31T13:00:00Z");
    expect(times(await runsOnce(expected.length + 1))).toEqual([...expected, "13:00"]);
    // Set back, it comes to its times again.
    await at("2026-01-31T12:59:00Z");
    await at("2026-01-31T13:00:00Z");
    expect(times(await runsOnce(expected.length + 2)).slice(-2)).toEqual(["13:00", "13:00"]);
  });

  test("runs while the clock goes by itself, and no longer when it stands", async () => {
    await add("minutely", { cron_schedule: "* * * * *" });
    await splunk.control("PUT", "/clock", { now: "2026-01-31T09:00:00Z", speed: 1000 });
    // A time comes every 60 ms: on a busy machine a run is always at work, until the clock stands.
    await reached("success");
    await splunk.control("PUT", "/clock", { frozen: true });
    const { now } = (await splunk.control("GET", "/clock")).body;
    const runs = await runsOnce(1);
    for (const { scheduled_at } of runs)
      expect(Date.parse(scheduled_at)).toBeLessThanOrEqual(Date.parse(now));
  });

  test("skips a time in real time while its run is at work; a continuous one waits for it", async () => {
    await add("real", { search: "level=* | sort level" });
    await add("each", { search: "level=* | sort level", realtime_schedule: 0 });
    const release = holdStatements();
    await at("2026-01-31T10:00:00Z");
    await at("2026-01-31T11:00:00Z");
    await reached("skipped");
    release();
    const runs = await runsOnce(4);
    const of = (name: string) =>
      runs.filter(({ saved_search }) => saved_search === name).map(({ status }) => status);
    expect([of("real"), of("each")]).toEqual([
      ["success", "skipped"],
      ["success", "success"],
    ]);
    expect(runs.find(({ status }) => status === "skipped")?.reason).toContain(
      "The maximum number of concurrent",
    );
  });

  test("ends with its sandbox, whatever its runs are at", async () => {
    const other = await startSplunk();
    const release = holdStatements();
    await other.control("PUT", "/clock", { now: "2026-01-31T09:00:00Z", frozen: true });
    const given = { search: "* | sort host", is_scheduled: 1, cron_schedule: "0 * * * *" };
    await other.ask("POST", SAVED, { name: "hourly", ...given });
    await other.control("PUT", "/clock", { now: "2026-01-31T10:00:00Z" });
    const runs = async () => (await other.control("GET", "/data?entity_type=scheduled_runs")).body.rows;
    while ((await runs())[0]?.status !== "running");
    const stopped = other.stop();
    release();
    await stopped;
  });

  test("runs nothing for an owner who may not, or who is gone, and says why", async () => {
    const row = { search: "| makeresults", is_scheduled: true, cron_schedule: "0 * * * *" };
    await splunk.control("POST", "/data", {
      data: {
        users: ["ann", "eve"].map((name) => ({ name, password_sha256: "0".repeat(64), roles: ["user"] })),
        saved_searches: [
          { ...row, name: "anns", owner: "ann" },
          { ...row, name: "gone", owner: "eve" },
          { ...row, name: "nobodys" },
          { ...row, name: "real time", earliest_time: "rt-1m" },
          { ...row, name: "broken", search: "| nosuchcommand" },
        ],
      },
    });
    expect((await ask("DELETE", "/services/authentication/users/eve")).status).toBe(200);
    await at("2026-01-31T10:00:00Z");
    const runs = await runsOnce(5);
    const told = Object.fromEntries(
      runs.map(({ saved_search, status, reason }) => [saved_search, [status, reason]]),
    );
    expect(told).toEqual({
      anns: ["skipped", "The owner 'ann' lacks the capability schedule_search."],
      gone: ["skipped", "It is orphaned: there is no account 'eve'."],
      nobodys: ["success", ""],
      "real time": ["skipped", "Real-time searches are not served here."],
      broken: ["failed", expect.stringContaining("nosuchcommand")],
    });
  });

  test("shows what it found to who sees the saved search", async () => {
    const row = { search: "level=* | stats count", is_scheduled: true, cron_schedule: "0 * * * *" };
    await splunk.control("POST", "/data", {
      data: {
        users: [{ name: "ann", password_sha256: sha256("ann"), roles: ["user"] }],
        saved_searches: [
          { ...row, name: "shared" },
          { ...row, name: "private", owner: "admin", sharing: "user" },
        ],
      },
    });
    await at("2026-01-31T10:00:00Z");
    const runs = await runsOnce(2);
    const authorization = `Basic ${Buffer.from("ann:ann").toString("base64")}`;
    const seen = async (name: string) => {
      const sid = runs.find(({ saved_search }) => saved_search === name)?.name;
      const path = `/services/search/v2/jobs/${sid}/results`;
      return (await splunk.ask("GET", path, { output_mode: "json" }, { authorization })).status;
    };
    expect([await seen("shared"), await seen("private")]).toEqual([200, 403]);
    const given = {
      output_mode: "json",
      exec_mode: "oneshot",
      search: '| loadjob savedsearch="nobody:search:shared"',
    };
    const loaded = await splunk.ask("POST", "/services/search/v2/jobs", given, { authorization });
    expect(loaded.body.results).toEqual([{ count: "3" }]);
  });

  test("a time that a search is put to comes first, and once; so many runs as it says, and no more", async () => {
    await add("moved", {});
    await ask("POST", `${SAVED}/moved/reschedule`, { schedule_time: "2026-01-31T10:30:00Z" });
    await add("once", { run_n_times: 1 });
    await at("2026-01-31T10:30:00Z");
    await runsOnce(2);
    await at("2026-01-31T11:00:00Z");
    const runs = await runsOnce(3);
    const of = (name: string) => times(runs.filter(({ saved_search }) => saved_search === name));
    expect([of("moved"), of("once")]).toEqual([["10:30", "11:00"], ["10:00"]]);
    expect((await contentOf(`${SAVED}/moved`)).next_scheduled_time).toBe("2026-01-31 12:00:00 UTC");
  });

  describe("with actions", () => {
    interface Posted {
      method: string | undefined;
      headers: IncomingHttpHeaders;
      body: Record<string, unknown>;
    }
    const posted: Posted[] = [];
    const receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { method, headers } = request;
        posted.push({ method, headers, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) });
        response.writeHead(request.url === "/gone" ? 410 : 200).end();
      });
    });
    let address = "";
    beforeAll(async () => {
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    });
    afterAll(() => receiver.close());
    beforeEach(() => {
      posted.length = 0;
    });
    const errors = {
      "dispatch.earliest_time": "0",
      "alert.track": 1,
      alert_type: "number of events",
      alert_comparator: "greater than",
      alert_threshold: "1",
    };

    test("posts a webhook with what the vendor's holds, and says of other actions that they are not carried out", async () => {
      const settings = { ...errors, actions: "email,webhook", "action.webhook.param.url": `${address}/hook` };
      await add("failures", settings, "level=error | table host level");
      await at("2026-01-31T10:00:00Z");
      const [run] = await runsOnce(1);
      expect(run).toMatchObject({ status: "success", result_count: 2, triggered: true, suppressed: false });
      expect(posted).toHaveLength(1);
      expect(posted[0]?.headers).toMatchObject({
        "content-type": "application/json",
        "user-agent": expect.stringMatching(/^Splunk\/[0-9A-F-]{36}$/),
      });
      expect(posted[0]?.body).toEqual({
        sid: run?.name,
        search_name: "failures",
        app: "search",
        owner: "admin",
        results_link: `http://splunk:8000/app/search/@go?sid=${run?.name}`,
        result: { host: "web-2", level: "error" },
      });
      expect(await rowsOf("alert_actions")).toMatchObject([
        { action: "email", status: "not_carried_out", detail: expect.stringContaining("no mail is sent") },
        { action: "webhook", status: "done", detail: expect.stringContaining("answered HTTP status 200") },
      ]);
      expect(await rowsOf("fired_alerts")).toMatchObject([{ sid: run?.name, actions: "email,webhook" }]);
      // It is kept as long as the action that keeps it longest: a day, by the mail.
      const { content } = (await ask("GET", `/services/search/jobs/${run?.name}`)).body.entry[0];
      expect(content.ttl).toBe(86_400);
    });

    test("one for each result, held back by its fields; none when the condition does not hold", async () => {
      const each = { "alert.digest_mode": 0, "alert.suppress": 1, "alert.suppress.period": "90m" };
      const settings = { ...errors, ...each, "alert.suppress.fields": "host", "action.webhook": 1 };
      await add("each", { ...settings, "action.webhook.param.url": `${address}/$result.host$` }, "level=*");
      await add("no", { ...settings, alert_threshold: "9", "action.webhook.param.url": address }, "level=*");
      await at("2026-01-31T10:00:00Z");
      await runsOnce(2);
      const hosts = () => posted.map(({ body }) => (body.result as { host: string }).host);
      expect(hosts()).toEqual(["web-1", "web-2"]);
      await at("2026-01-31T11:00:00Z");
      const runs = await runsOnce(4);
      expect(hosts()).toHaveLength(2);
      expect(runs.filter(({ saved_search }) => saved_search === "each").at(-1)).toMatchObject({
        triggered: true,
        suppressed: true,
      });
      await at("2026-01-31T12:00:00Z");
      await runsOnce(6);
      expect(hosts()).toHaveLength(4);
    });

    test("calls no host but this machine, and says what a receiver answers and what an address lacks", async () => {
      const urls = { away: "http://hooks.example.com/x?token=secret-1", gone: `${address}/gone`, none: "" };
      for (const [name, url] of Object.entries(urls)) {
        await add(name, { "action.webhook": 1, "action.webhook.param.url": url });
      }
      await at("2026-01-31T10:00:00Z");
      await runsOnce(3);
      const actions = await rowsOf("alert_actions");
      const told = actions.map(({ saved_search, status, detail }: Record<string, string>) => [
        saved_search,
        status,
        detail,
      ]);
      expect(told.sort()).toEqual([
        ["away", "not_carried_out", expect.stringContaining("The host hooks.example.com is not called")],
        ["gone", "failed", expect.stringContaining("answered HTTP status 410")],
        ["none", "failed", "There is no address: set action.webhook.param.url."],
      ]);
      expect(JSON.stringify(actions)).not.toContain("secret-1");
      expect(posted).toHaveLength(1);
    });
  });
});
