/** Alerts of saved searches: when they are fired, how they are held back, and what of a schedule can be changed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../../support/splunk.ts";

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
