/** Saved searches over plain HTTP: what they are, when they are to run, and what became of it. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { actionDefaults } from "../../conf/action-defaults.ts";
import { nextTimes, parseCron } from "../../conf/cron.ts";
import { findInvalid } from "../../conf/formats.ts";
import { savedSearchDefaults } from "../../conf/saved-search-defaults.ts";
import { savedSearchFormats } from "../../conf/saved-search-formats.ts";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
/** What there is before anybody has done anything. */
let fresh: { listed: string[]; rows: number };
beforeAll(async () => {
  splunk = await startSplunk();
  const { body } = await ask("GET", SAVED);
  const { counts } = (await splunk.control("GET", "/data")).body;
  fresh = { listed: body.entry.map(({ name }: { name: string }) => name), rows: counts.saved_searches };
  await splunk.add(
    { _id: "1", "@timestamp": "2026-01-31T08:30:00.000Z", level: "error" },
    { _id: "2", "@timestamp": "2026-01-31T08:59:00.000Z", level: "error" },
    { _id: "3", "@timestamp": "2026-01-31T08:59:30.000Z", level: "info" },
  );
});
afterAll(() => splunk.stop());
beforeEach(async () => {
  const { body } = await splunk.control("GET", "/data?entity_type=saved_searches&limit=1000");
  for (const { name } of body.rows) {
    await splunk.control("DELETE", "/data", { entity_type: "saved_searches", where: { name } });
  }
  await splunk.control("PUT", "/clock", { now: "2026-01-31T09:00:00Z", frozen: true });
});

const SAVED = "/services/saved/searches";
const json = { output_mode: "json" };
const ask = (method: string, path: string, parameters: Parameters = {}) =>
  splunk.ask(method, path, { ...json, ...parameters });
const save = (name: string, search: string, more: Parameters = {}) =>
  ask("POST", SAVED, { name, search, ...more });
const contentOf = async (name: string) => (await ask("GET", `${SAVED}/${name}`)).body.entry[0].content;

test("a fresh instance has some, and they are rows of the world", () => {
  expect(fresh.listed).toContain("Errors in the last 24 hours");
  expect(fresh.rows).toBe(fresh.listed.length);
});

test("a saved search has the settings it was given, and the usual ones", async () => {
  const made = await save("mine", "level=error", {
    description: "What is wrong",
    "dispatch.earliest_time": "-1h",
    "dispatch.max_count": 10,
    "action.email": 1,
    "action.email.to": "ops@example.com",
  });
  expect(made.status).toBe(201);
  const [entry] = made.body.entry;
  expect(entry).toMatchObject({
    name: "mine",
    author: "admin",
    acl: { owner: "admin", app: "search", sharing: "user", removable: true },
    content: {
      search: "level=error",
      qualifiedSearch: "search level=error",
      "dispatch.earliest_time": "-1h",
      "dispatch.max_count": 10,
      "dispatch.ttl": "2p",
      "action.email": true,
      "action.email.to": "ops@example.com",
      "alert.severity": 3,
      "eai:acl": null,
      disabled: false,
    },
  });
  expect(entry.fields.required).toEqual(["search"]);
  for (const link of ["alternate", "dispatch", "history", "edit", "remove", "disable"]) {
    expect(entry.links[link]).toContain("/servicesNS/admin/search/saved/searches/mine");
  }
  const { text } = await splunk.ask("GET", `${SAVED}/mine`);
  expect(text).toContain("<title>mine</title>");
  expect(text).toContain('<s:key name="search">level=error</s:key>');
});

test("it is changed, disabled, enabled and removed", async () => {
  await save("mine", "level=error");
  expect((await ask("POST", `${SAVED}/mine`, { description: "new" })).status).toBe(200);
  expect(await contentOf("mine")).toMatchObject({ search: "level=error", description: "new" });
  expect((await ask("POST", `${SAVED}/mine/disable`)).status).toBe(200);
  expect((await contentOf("mine")).disabled).toBe(true);
  expect((await ask("POST", `${SAVED}/mine/dispatch`)).status).toBe(400);
  await ask("POST", `${SAVED}/mine/enable`);
  expect((await contentOf("mine")).disabled).toBe(false);
  expect((await ask("DELETE", `${SAVED}/mine`)).status).toBe(200);
  expect((await ask("GET", `${SAVED}/mine`)).status).toBe(404);
});

test("what is wrong with one is said in splunkd's words", async () => {
  await save("mine", "level=error");
  const refusals: [method: string, path: string, parameters: Parameters, status: number, text: string][] = [
    ["GET", `${SAVED}/none`, {}, 404, "Could not find object id=none"],
    ["POST", SAVED, { search: "x" }, 400, 'Cannot perform action "POST" without a target name to act on.'],
    ["POST", SAVED, { name: "other" }, 400, "Search string cannot be empty."],
    [
      "POST",
      SAVED,
      { name: "mine", search: "x" },
      409,
      "Unable to create saved search with name 'mine'. A saved search with that name already exists.",
    ],
    ["DELETE", SAVED, {}, 400, 'Cannot perform action "DELETE" without a target name to act on.'],
    ["POST", `${SAVED}/mine`, { colour: "red" }, 400, 'Argument "colour" is not supported by this handler.'],
    ["POST", `${SAVED}/mine`, { cron_schedule: "often" }, 400, 'Invalid cron_schedule="often".'],
    ["POST", `${SAVED}/mine/reschedule`, { schedule_time: "soon" }, 400, "Invalid schedule_time format"],
    ["GET", SAVED, { colour: "red" }, 400, 'Argument "colour" is not supported by this handler.'],
  ];
  for (const [method, path, parameters, status, text] of refusals) {
    const answer = await ask(method, path, parameters);
    expect([path, answer.status, answer.body]).toEqual([
      path,
      status,
      { messages: [{ type: "ERROR", text }] },
    ]);
  }
});

test.each([
  ["alert.expires", "soon", "1d"],
  ["alert.severity", "9", "6"],
  ["alert.suppress.period", "a while", "5m"],
  ["alert_comparator", "about", "Greater than"],
  ["alert_type", "number of cats", "number of hosts"],
  ["dispatch.buckets", "x", "0"],
  ["dispatch.max_count", "-4", "7"],
  ["dispatch.max_time", "1.5", "60"],
  ["dispatch.ttl", "2q", "3p"],
  ["max_concurrent", "many", ""],
  ["dispatch.earliest_time", "bogus", "-1d@d"],
  ["dispatch.latest_time", "tomorrow", "2026-01-31T09:00:00.000+00:00"],
  ["dispatch.sample_ratio", "0", "1"],
  ["dispatch.lookups", "perhaps", "true"],
  ["alert_threshold", "ten", "10%"],
  ["alert.track", "manual", "auto"],
  ["alert.suppress", "2", "f"],
  ["auto_summarize.cron_schedule", "often", "*/5 * * * *"],
  ["auto_summarize.max_summary_ratio", "half", "0.5"],
  ["allow_skew", "5 apples", "50%"],
  ["realtime_schedule", "on", "0"],
  ["schedule_priority", "high", "higher"],
  ["schedule_window", "wide", "auto"],
  ["durable.track_time_type", "time", "_indextime"],
  ["action.email", "maybe", "1"],
  ["action.email.ttl", "1d", "86400"],
  ["action.webhook.param.url", "ops@example.com", "https://127.0.0.1/hook"],
  ["display.visualizations.charting.chart", "cake", "pie"],
  ["display.visualizations.mapping.map.center", "here", "(47.1,-15.4)"],
])("%s is refused when it is no such thing, saved and for one run", async (name, wrong, right) => {
  const refusal = [
    400,
    { messages: [{ type: "ERROR", text: `Invalid value "${wrong}" for argument "${name}".` }] },
  ];
  const answered = ({ status, body }: Awaited<ReturnType<typeof ask>>) => [status, body];
  expect(answered(await save("s", "*", { [name]: wrong }))).toEqual(refusal);
  expect((await save("s", "*", { [name]: right })).status).toBe(201);
  expect(answered(await ask("POST", `${SAVED}/s`, { [name]: wrong }))).toEqual(refusal);
  expect(answered(await ask("POST", `${SAVED}/s/dispatch`, { [name]: wrong }))).toEqual(refusal);
  expect((await ask("POST", `${SAVED}/s/dispatch`)).status).toBe(201);
});

test("every documented setting has a form, and what it is by default is of it", () => {
  const known = Object.keys(savedSearchDefaults);
  expect(known.filter((name) => !Object.hasOwn(savedSearchFormats, name))).toEqual([]);
  const usual = Object.fromEntries(
    Object.entries({ ...actionDefaults, ...savedSearchDefaults }).map(([name, value]) => [
      name,
      String(value ?? ""),
    ]),
  );
  expect(findInvalid(savedSearchFormats, usual)).toBeUndefined();
});

test("a condition that is no search is refused, and what is refused is not written in part", async () => {
  const refused = await save("s", "*", { alert_type: "custom", alert_condition: "> 0" });
  expect([refused.status, refused.body.messages[0].text]).toEqual([
    400,
    expect.stringMatching(/^Cannot parse alert condition\. /),
  ]);
  expect((await ask("GET", `${SAVED}/s`)).status).toBe(404);
  await save("s", "*", { description: "first", alert_condition: "where count > 0" });
  const changes = { description: "second", search: "level=error", "alert.expires": "soon" };
  expect((await ask("POST", `${SAVED}/s`, changes)).status).toBe(400);
  expect(await contentOf("s")).toMatchObject({
    description: "first",
    search: "*",
    alert_condition: "where count > 0",
    "alert.expires": "24h",
  });
});

test.each([
  [{ settings: { "alert.expires": "soon" } }, "alert.expires must be a span of time"],
  [{ settings: { alert_condition: "> 0" } }, "Cannot parse alert condition"],
  [{ settings: { colour: "red" } }, "colour is no setting of a saved search"],
  [{ cron_schedule: "often" }, "must be a cron schedule"],
  [{ earliest_time: "bogus" }, "must be a time"],
])("a row is of the same forms: %j", async (wrong, words) => {
  const rows = (more: object) =>
    splunk.control("POST", "/data", { data: { saved_searches: [{ name: "row", search: "*", ...more }] } });
  const refused = await rows(wrong);
  expect([refused.status, refused.text]).toEqual([expect.any(Number), expect.stringContaining(words)]);
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect((await ask("GET", `${SAVED}/row`)).status).toBe(404);
  const settings = { alert_condition: "`written_later`", "dispatch.time_format": "%d.%m.%Y" };
  expect((await rows({ settings, earliest_time: "31.01.2026" })).status).toBeLessThan(300);
});

test("a time is of the format that the saved search says", async () => {
  const format = { "dispatch.time_format": "%d.%m.%Y" };
  expect((await save("s", "*", { ...format, "dispatch.earliest_time": "31.01.2026" })).status).toBe(201);
  expect((await ask("POST", `${SAVED}/s`, { "dispatch.latest_time": "01.02.2026" })).status).toBe(200);
  expect((await save("t", "*", { "dispatch.earliest_time": "31.01.2026" })).status).toBe(400);
});

test("it is run in its own range, or in the one that is asked for, with the arguments it is given", async () => {
  await save("recent", "level=$args.level$ | stats count", { "dispatch.earliest_time": "-5m" });
  const run = async (more: Parameters) => {
    const { status, body } = await ask("POST", `${SAVED}/recent/dispatch`, {
      "args.level": "error",
      ...more,
    });
    expect(status).toBe(201);
    expect(body.sid).toMatch(/^admin__admin__search__RMD5[0-9a-f]{16}_at_1769850000_\d$/);
    for (;;) {
      const answer = await ask("POST", `/services/search/v2/jobs/${body.sid}/results`);
      if (answer.status === 200) return { sid: body.sid, results: answer.body.results };
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const first = await run({});
  expect(first.results).toEqual([{ count: "1" }]);
  const second = await run({ "dispatch.earliest_time": "-1h" });
  expect(second.results).toEqual([{ count: "2" }]);
  expect((await run({ "args.level": "info" })).results).toEqual([{ count: "1" }]);
  const history = await ask("GET", `${SAVED}/recent/history`);
  expect(history.body.paging.total).toBe(3);
  expect(history.body.entry.map(({ name }: { name: string }) => name)).toContain(first.sid);
  const job = (await ask("GET", `/services/search/jobs/${first.sid}`)).body.entry[0].content;
  expect(job).toMatchObject({
    isSavedSearch: true,
    label: "recent",
    search: "search level=error | stats count",
  });
});

test("a schedule says when the search is to run next", async () => {
  await save("hourly", "level=error", { is_scheduled: 1, cron_schedule: "15 * * * *" });
  expect((await contentOf("hourly")).next_scheduled_time).toBe("2026-01-31 09:15:00 UTC");
  const { body } = await ask("GET", `${SAVED}/hourly/scheduled_times`, {
    earliest_time: "now",
    latest_time: "+3h",
  });
  const at = (hour: number) => Date.UTC(2026, 0, 31, hour, 15) / 1000;
  expect(body.entry[0].content.scheduled_times).toEqual([at(9), at(10), at(11)]);
  await ask("POST", `${SAVED}/hourly`, { is_scheduled: 0 });
  expect((await contentOf("hourly")).next_scheduled_time).toBe("");
});

test("one that is private is seen by its owner, and one of another app in its app", async () => {
  const row = { search: "level=error", owner: "somebody" };
  await splunk.control("POST", "/data", {
    data: {
      users: [{ name: "somebody", password_sha256: "0".repeat(64) }],
      apps: [{ name: "other" }],
      saved_searches: [
        { ...row, name: "private", sharing: "user" },
        { ...row, name: "of another app", app: "other" },
        { ...row, name: "for all", app: "other", sharing: "global" },
      ],
    },
  });
  const names = async (place: string) =>
    (await ask("GET", `${place}/saved/searches`)).body.entry.map(({ name }: { name: string }) => name);
  expect(await names("/servicesNS/admin/search")).toEqual(["for all"]);
  expect(await names("/servicesNS/nobody/other")).toEqual(["for all", "of another app"]);
  expect(await names("/servicesNS/-/-")).toEqual(["for all", "of another app", "private"]);
});

test.each([
  ["*/20 9-10 * * *", "2026-01-31T09:05:00Z", ["31T09:20", "31T09:40", "31T10:00", "31T10:20"]],
  ["0 0 1 2 *", "2026-01-31T09:05:00Z", ["01T00:00"]],
  ["30 6 * * mon", "2026-01-31T09:05:00Z", ["02T06:30", "09T06:30"]],
  ["0 12 13 * 5", "2026-02-05T00:00:00Z", ["06T12:00", "13T12:00", "20T12:00"]],
  ["0 0 30 2 *", "2026-01-31T09:05:00Z", []],
])("cron %s comes after %s at %j", (text, after, times) => {
  const cron = parseCron(text);
  if (cron === undefined) throw new Error("this is a schedule");
  const found = nextTimes(cron, Date.parse(after), times.length || 1, "UTC");
  expect(found.map((time) => new Date(time).toISOString().slice(8, 16))).toEqual(times);
});

test.each([
  "",
  "* * * *",
  "60 * * * *",
  "* 24 * * *",
  "5-1 * * * *",
  "*/0 * * * *",
  "a * * * *",
  "* * 0 * *",
])("%j is no schedule", (text) => {
  expect(parseCron(text)).toBeUndefined();
});
