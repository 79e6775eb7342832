/** Proofs of what the log-query twin says of itself. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { holdStatements } from "@offhook/log-store/testing/held-statements";
import { issueLocal, openAuthority } from "@offhook/platform/names/authority";
import { request } from "@offhook/platform/testing/http";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import splunk from "@offhook/splunk";
import { logQueryConfig } from "@offhook/splunk/config";
import { mayCall } from "@offhook/splunk/saved/webhook-hosts";
import { expect } from "vitest";
import { asAdmin, askedWith, form, JOBS } from "./ask-splunk.ts";
import type { Proofs } from "./proof.ts";

const HEC_TOKEN = "0f5a9c3e-7b1d-4e62-9a48-c6d2e81b3f70";
/** A row of the world, of texts. */
type Row = Readonly<Record<string, string>>;
const INFO = "/services/server/info?output_mode=json";

export const splunkProofs: Proofs = {
  async "splunk.sdk-address"() {
    const folder = await mkdtemp(path.join(tmpdir(), "authority-"));
    const certificate = () => issueLocal("127.0.0.1", folder);
    const own = await startEnvironment("version: 1\nservices: [{ name: splunk, port: 0 }]\n", {
      twins: [splunk],
      certificate,
    });
    const { port_url = "", url } = addressesOf(own, "splunk");
    const headers = { authorization: "Bearer splunk-twin-token" };
    const secure = port_url.replace("http:", "https:");
    const ca = (await openAuthority(folder)).certificate;
    const answer = await new Promise<string>((resolve, reject) => {
      https
        .get(`${secure}${INFO}`, { ca, headers, agent: false }, (response) =>
          text(response).then(resolve, reject),
        )
        .on("error", reject);
    });
    const place = "/services/server/info";
    expect(JSON.parse(answer)).toMatchObject({
      origin: `${secure}${place}`,
      entry: [{ id: `${secure}${place}/server-info` }],
    });
    for (const base of [port_url, url]) {
      expect((await request("GET", `${base}${INFO}`, { headers })).body.origin).toBe(`${base}${place}`);
    }
    await own.stop();
    await rm(folder, { recursive: true });
  },
  async "splunk.restart"({ url }) {
    const login = await asAdmin("POST", `${url}/services/auth/login`, {
      username: "admin",
      password: "splunk-twin-password",
    });
    const asSession = askedWith(`Splunk ${login.body.sessionKey}`);
    await asAdmin("POST", `${url}/services/messages`, { name: "restart_required", value: "x" });
    const done = (await asAdmin("POST", `${url}${JOBS}`, { search: "| makeresults", exec_mode: "blocking" }))
      .body;
    const release = holdStatements();
    const { sid } = (await asAdmin("POST", `${url}${JOBS}`, { search: "search index=*" })).body;
    expect((await asSession("POST", `${url}/services/server/control/restart`)).status).toBe(200);
    release();
    expect((await asSession("GET", `${url}/services/server/info`)).status).toBe(401);
    for (const gone of [`${JOBS}/${sid}`, "/services/messages/restart_required"]) {
      expect((await asAdmin("GET", `${url}${gone}`)).status).toBe(404);
    }
    expect((await asAdmin("GET", `${url}${JOBS}/${done.sid}/results`)).body.results).toHaveLength(1);
  },
  async "splunk.out-of-purpose"({ url }) {
    for (const place of ["data/inputs/monitor", "storage/collections/config", "datamodel/pivot/x"]) {
      const { status, body } = await asAdmin("GET", `${url}/services/${place}`);
      expect({ status, type: body.messages[0].type }).toEqual({ status: 404, type: "ERROR" });
    }
  },
  async "splunk.locations"({ url }) {
    const located = async (address: string) => {
      const search = `| makeresults | eval ip="${address}" | iplocation allfields=t ip | fields - _time`;
      const parameters = { search, exec_mode: "oneshot" };
      return (await asAdmin("POST", `${url}${JOBS}`, parameters)).body.results[0];
    };
    const none = { City: "", Region: "", lat: "", lon: "", Continent: "", MetroCode: "", Timezone: "" };
    expect(await located("8.8.8.8")).toEqual({ ip: "8.8.8.8", Country: "United States", ...none });
    for (const ip of ["10.0.0.1", "2001:4860:4860::8888"]) expect(await located(ip)).toEqual({ ip });
  },
  async "splunk.accounts"({ url, control }) {
    for (const authorization of [
      `Basic ${btoa("admin:splunk-twin-password")}`,
      "Bearer splunk-twin-token",
      "Splunk splunk-twin-token",
    ]) {
      expect((await request("GET", `${url}${INFO}`, { headers: { authorization } })).status).toBe(200);
    }
    expect((await control("GET", "/requests?operation=server.info")).text).not.toContain("splunk-twin-");
  },
  async "splunk.refused-credentials"({ url }) {
    const ask = (headers: Record<string, string>) => request("GET", `${url}${INFO}`, { headers });
    const anonymous = await ask({});
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get("www-authenticate")).toBe('Basic realm="/splunk"');
    expect(anonymous.body).toEqual({ messages: [{ type: "ERROR", text: "Unauthorized" }] });
    expect((await ask({ authorization: `Basic ${btoa("admin:no")}` })).status).toBe(401);
    const unknown = await ask({ authorization: "Splunk no-such-key" });
    expect(unknown.status).toBe(401);
    expect(unknown.body).toEqual({ messages: [{ type: "WARN", text: "call not properly authenticated" }] });
  },
  async "splunk.login-again"({ url, control }) {
    const login = async () => {
      const body = "username=admin&password=splunk-twin-password&output_mode=json";
      const answer = await request("POST", `${url}/services/auth/login`, { headers: form, body });
      return String(answer.body.sessionKey);
    };
    const keys = [await login(), await login()];
    expect(new Set(keys).size).toBe(2);
    const asked = (key: string) =>
      request("GET", `${url}${INFO}`, { headers: { authorization: `Splunk ${key}` } });
    expect((await Promise.all(keys.map(asked))).map(({ status }) => status)).toEqual([200, 200]);
    const { body: clock } = await control("GET", "/clock");
    const later = new Date(Date.parse(clock.now) + 3_600_001).toISOString();
    await control("PUT", "/clock", { now: later, frozen: true });
    expect((await Promise.all(keys.map(asked))).map(({ status }) => status)).toEqual([401, 401]);
    expect((await asked(await login())).status).toBe(200);
  },
  async "splunk.saved-again"({ url }) {
    const save = (search: string) =>
      asAdmin("POST", `${url}/services/saved/searches`, { name: "mine", search });
    expect((await save("error")).status).toBe(201);
    expect((await save("other")).status).toBe(409);
    const saved = await asAdmin("GET", `${url}/services/saved/searches/mine`);
    expect(saved.body.entry[0].content.search).toBe("error");
    const start = () => asAdmin("POST", `${url}${JOBS}`, { search: "search *", id: "one" });
    expect([(await start()).status, (await start()).status]).toEqual([201, 409]);
  },
  async "splunk.addresses"({ url }) {
    const { sid } = (await asAdmin("POST", `${url}${JOBS}`, { search: "search *" })).body;
    for (const place of ["services", "servicesNS/nobody/search", "servicesNS/-/-"]) {
      for (const version of ["search/jobs", "search/v2/jobs"]) {
        const { body } = await asAdmin("GET", `${url}/${place}/${version}/${sid}`);
        expect(body.entry[0].content.sid).toBe(sid);
      }
    }
  },
  async "splunk.jobs"({ url, control }) {
    const start = async () => {
      const search = "search *";
      const { body } = await asAdmin("POST", `${url}${JOBS}`, { search, exec_mode: "blocking" });
      return String(body.sid);
    };
    const rows = async () => (await control("GET", "/data?entity_type=jobs")).body.rows;
    const [kept, removed] = [await start(), await start()];
    expect(await rows()).toMatchObject([{ sid: kept, search: "search *", state: "DONE" }, { sid: removed }]);
    await control("DELETE", "/data", { entity_type: "jobs", key: removed });
    expect((await asAdmin("GET", `${url}${JOBS}/${removed}`)).status).toBe(404);
    const { body: clock } = await control("GET", "/clock");
    await control("PUT", "/clock", { now: new Date(Date.parse(clock.now) + 601_000).toISOString() });
    expect((await asAdmin("GET", `${url}${JOBS}/${kept}`)).status).toBe(404);
  },
  async "splunk.job-results"({ url, control }) {
    const search = "| makeresults count=50001";
    const { sid } = (await asAdmin("POST", `${url}${JOBS}`, { search, exec_mode: "blocking" })).body;
    const last = async () => (await asAdmin("POST", `${url}${JOBS}/${sid}/results`, { offset: "-1" })).body;
    expect(await last()).toMatchObject({ init_offset: 49_999, results: [{}] });
    const { tables } = (await control("POST", "/snapshot")).body;
    expect((await control("POST", "/reset", { data: tables })).status).toBe(200);
    expect(await last()).toMatchObject({ init_offset: 49_999, results: [{}] });
  },
  async "splunk.concurrency"({ url }) {
    const release = holdStatements();
    try {
      const start = () => asAdmin("POST", `${url}${JOBS}`, { search: "search *" });
      for (let n = 0; n < 110; n++) expect((await start()).status).toBe(201);
      expect((await start()).status).toBe(503);
      const { body } = await asAdmin("GET", `${url}${JOBS}?count=0`);
      const states = body.entry.map(
        ({ content }: { content: { dispatchState: string } }) => content.dispatchState,
      );
      expect(states.filter((state: string) => state === "QUEUED")).toHaveLength(100);
    } finally {
      release();
    }
  },
  async "splunk.real-time"({ url }) {
    const answer = await asAdmin("POST", `${url}${JOBS}`, { search: "search *", earliest_time: "rt" });
    expect([answer.status, answer.body.messages[0].type]).toEqual([400, "FATAL"]);
  },
  async "splunk.statements"({ url }) {
    const { sid } = (await asAdmin("POST", `${url}${JOBS}`, { search: "search *", exec_mode: "blocking" }))
      .body;
    expect((await asAdmin("GET", `${url}${JOBS}/${sid}/search.log`)).text).toContain("FROM documents");
  },
  async "splunk.collector-tokens"({ url, control }) {
    const send = (token: string) =>
      request("POST", `${url}/services/collector`, {
        headers: { authorization: `Splunk ${token}` },
        body: '{"event":"x"}',
      });
    expect((await send(HEC_TOKEN)).body).toEqual({ text: "Success", code: 0 });
    const token_sha256 = createHash("sha256").update("another-token").digest("hex");
    await control("POST", "/data", { data: { hec_tokens: [{ name: "another", token_sha256 }] } });
    expect((await send("another-token")).status).toBe(200);
    expect((await send("no-such-token")).status).toBe(403);
    const { text } = await control("GET", "/requests?operation=collector.event");
    expect(text).not.toContain(HEC_TOKEN);
    expect(text).not.toContain("another-token");
  },
  async "splunk.events-again"({ url, control }) {
    const headers = { authorization: `Splunk ${HEC_TOKEN}` };
    const counted = async () => (await control("GET", "/data")).body.counts.events;
    const before = await counted();
    for (const body of ['{"event":"again","time":1768478400}', '{"event":"again","time":1768478400}']) {
      await request("POST", `${url}/services/collector`, { headers, body });
    }
    expect(await counted()).toBe(before + 2);
  },
  async "splunk.event-fields"({ url, control }) {
    await control("POST", "/data", { data: { events: [{ _time: "2026-01-15T12:00:00Z", bytes: 5 }] } });
    const body = '{"event":"level=error bytes=many"}{"event":{"a":{"b":1.0}}}';
    await request("POST", `${url}/services/collector`, {
      headers: { authorization: `Splunk ${HEC_TOKEN}` },
      body,
    });
    const { rows } = (await control("GET", "/data?entity_type=events")).body;
    expect(rows.at(-2)).toMatchObject({ _raw: "level=error bytes=many", bytes: "many", level: "error" });
    expect(rows.at(-1)).toMatchObject({ _raw: '{"a":{"b":1.0}}', "a.b": "1.0" });
  },
  async "splunk.alerts"({ url, control }) {
    const saved = `${url}/services/saved/searches`;
    await control("PUT", "/clock", { now: "2026-01-31T09:30:00Z", frozen: true });
    const settings = { "alert.track": "1", actions: "email", is_scheduled: "1", cron_schedule: "0 * * * *" };
    await asAdmin("POST", saved, { name: "alert", search: "| makeresults", ...settings });
    const each = { realtime_schedule: "0", is_scheduled: "1", cron_schedule: "0 * * * *" };
    await asAdmin("POST", saved, { name: "each", search: "| makeresults", ...each });
    const rows = async (table: string) => (await control("GET", `/data?entity_type=${table}`)).body.rows;
    const run = async (parameters: Record<string, string>) => {
      const { sid } = (await asAdmin("POST", `${saved}/alert/dispatch`, parameters)).body;
      for (;;) {
        const { content } = (await asAdmin("GET", `${url}${JOBS}/${sid}`)).body.entry[0];
        if (content.isDone) return;
      }
    };
    await run({});
    expect(await rows("fired_alerts")).toEqual([]);
    await run({ trigger_actions: "1" });
    expect(await rows("fired_alerts")).toMatchObject([{ saved_search: "alert", actions: "email" }]);
    await control("PUT", "/clock", { now: "2026-01-31T11:30:00Z", frozen: true });
    const ended = async () =>
      (await rows("scheduled_runs")).filter(({ status }: Row) => status === "success");
    while ((await ended()).length < 3);
    const timesOf = async (name: string) =>
      (await ended())
        .filter(({ saved_search }: Row) => saved_search === name)
        .map(({ scheduled_at }: Row) => scheduled_at?.slice(11, 16));
    expect([await timesOf("alert"), await timesOf("each")]).toEqual([["11:00"], ["10:00", "11:00"]]);
    expect(await rows("fired_alerts")).toHaveLength(2);
    await asAdmin("POST", `${saved}/alert/disable`);
    await control("PUT", "/clock", { now: "2026-02-02T12:00:00Z", frozen: true });
    const groups = (await asAdmin("GET", `${url}/services/alerts/fired_alerts`)).body.entry;
    expect(groups.map(({ name }: { name: string }) => name)).toEqual(["-"]);
  },
  async "splunk.alert-actions"({ url, control }) {
    const saved = `${url}/services/saved/searches`;
    const settings = {
      actions: "webhook,email",
      "action.webhook.param.url": "http://hooks.example.com/",
    };
    await asAdmin("POST", saved, { name: "alert", search: "| makeresults", ...settings });
    await asAdmin("POST", `${saved}/alert/dispatch`, { trigger_actions: "1" });
    const actions = async () => (await control("GET", "/data?entity_type=alert_actions")).body.rows;
    while ((await actions()).length < 2);
    expect(await actions()).toMatchObject([
      { action: "webhook", status: "not_carried_out", detail: expect.stringContaining("webhook_hosts") },
      { action: "email", status: "not_carried_out", detail: expect.stringContaining("no mail is sent") },
    ]);
    expect(logQueryConfig.parse({ webhook_hosts: ["hooks.example.com"] }).webhook_hosts).toHaveLength(1);
    expect(mayCall("http://hooks.example.com/", ["*.example.com"])).toBe(true);
    expect(mayCall("http://127.0.0.1:8080/", [])).toBe(true);
  },
  async "splunk.unserved-schedule"({ url, control }) {
    const saved = `${url}/services/saved/searches`;
    await control("PUT", "/clock", { now: "2026-01-31T09:30:00Z", frozen: true });
    await asAdmin("POST", saved, {
      ...{ name: "own", search: "| makeresults", is_scheduled: "1", cron_schedule: "0 * * * *" },
      ...{ run_on_startup: "1", allow_skew: "50%", schedule_window: "auto", dispatchAs: "owner" },
      schedule_priority: "highest",
    });
    const rows = async () => (await control("GET", "/data?entity_type=scheduled_runs")).body.rows;
    expect(await rows()).toEqual([]);
    await control("PUT", "/clock", { now: "2026-01-31T10:00:00Z", frozen: true });
    while ((await rows())[0]?.status !== "success");
    expect(await rows()).toMatchObject([{ owner: "admin", dispatched_at: "2026-01-31T10:00:00.000Z" }]);
    const { sid } = (await asAdmin("POST", `${saved}/own/dispatch`)).body;
    expect(sid).toMatch(/^admin__admin__/);
  },
  async "splunk.unserved-dispatch"({ url }) {
    const saved = `${url}/services/saved/searches`;
    await asAdmin("POST", saved, { name: "own", search: "| makeresults" });
    const dispatched = async (name: string, value: string) =>
      (await asAdmin("POST", `${saved}/own/dispatch`, { [`dispatch.${name}`]: value })).status;
    expect(await dispatched("index_earliest", "-1h")).toBe(400);
    expect(await dispatched("index_latest", "now")).toBe(400);
    expect(await dispatched("sample_ratio", "10")).toBe(400);
    expect(await dispatched("sample_ratio", "1")).toBe(201);
    for (const name of ["lookups", "spawn_process", "rt_backfill"])
      expect(await dispatched(name, "0")).toBe(201);
  },
  async "splunk.data-models"({ url, control }) {
    const models = `${url}/services/datamodel/model`;
    const calculation = (expression: string) => ({
      calculationID: "c",
      calculationType: "Eval",
      expression,
      outputFields: [{ fieldName: "user" }],
    });
    const description = (expression: string) =>
      JSON.stringify({ objects: [{ objectName: "All", calculations: [calculation(expression)] }] });
    await asAdmin("POST", models, { name: "Web", description: description("src_user") });
    const { rows } = (await control("GET", "/data?entity_type=data_models")).body;
    expect(rows).toMatchObject([{ name: "Web", objects: [{ name: "All", fields: { user: "src_user" } }] }]);
    const other = { name: "Other", description: description("upper(user)") };
    expect((await asAdmin("POST", models, other)).status).toBe(400);
    const pivot = await asAdmin("GET", `${url}/services/datamodel/pivot/Web`);
    expect([pivot.status, pivot.body]).toEqual([404, { messages: [{ type: "ERROR", text: "Not Found" }] }]);
    for (const search of ["| datamodel Web All search", "| pivot Web All count(All)"]) {
      expect((await asAdmin("POST", `${url}${JOBS}`, { search })).status).toBe(400);
    }
  },
  async "splunk.kept-secrets"({ url, control }) {
    const passwords = `${url}/servicesNS/nobody/search/storage/passwords`;
    await asAdmin("POST", passwords, { name: "bob", password: "kept-for-bob" });
    const shown = async () => (await asAdmin("GET", `${passwords}/bob`)).body.entry[0].content.clear_password;
    expect(await shown()).toBe("kept-for-bob");
    expect((await control("POST", "/snapshot")).text).not.toContain("kept-for-bob");
    expect((await control("GET", "/requests?limit=1000")).text).not.toContain("kept-for-bob");
    const password_sha256 = createHash("sha256").update("of another process").digest("hex");
    const row = { name: ":eve:", username: "eve", password_sha256 };
    await control("POST", "/data", { data: { storage_passwords: [row] } });
    expect((await asAdmin("GET", `${passwords}/eve`)).body.entry[0].content.clear_password).toBe("");
    const tokens = await asAdmin("GET", `${url}/services/data/inputs/http`);
    expect(tokens.body.entry[0].content.token).toBe(HEC_TOKEN);
  },
  async "splunk.configuration"({ url, control }) {
    const configs = `${url}/servicesNS/nobody/search/configs`;
    await asAdmin("POST", `${configs}/conf-props`, { name: "shop", TZ: "UTC" });
    const value = await asAdmin("GET", `${url}/services/properties/props/shop/TZ`);
    expect(value.text).toBe("UTC");
    await asAdmin("POST", `${configs}/conf-macros`, { name: "two", definition: "makeresults count=2" });
    const rows = (await control("GET", "/data?entity_type=macros")).body.rows;
    expect(rows).toMatchObject([{ name: "two", definition: "makeresults count=2" }]);
    const search = { search: "| `two`", exec_mode: "oneshot" };
    expect((await asAdmin("POST", `${url}${JOBS}`, search)).body.results).toHaveLength(2);
  },
  async "splunk.not-installed"({ url }) {
    const apps = `${url}/services/apps/local`;
    expect((await asAdmin("POST", apps, { name: "shop" })).status).toBe(201);
    expect((await asAdmin("POST", apps, { name: "/tmp/shop.spl", filename: "1" })).status).toBe(400);
    const views = `${url}/servicesNS/nobody/shop/data/ui/views`;
    const made = await asAdmin("POST", views, { name: "orders", "eai:data": "<dashboard/>" });
    expect(made.body.entry[0].content["eai:data"]).toBe("<dashboard/>");
  },
  async "splunk.collector-settings"({ url, control }) {
    const health = async () => (await request("GET", `${url}/services/collector/health`)).body.code;
    expect(await health()).toBe(17);
    const set = (key: string, settings: Record<string, string>) =>
      control("PATCH", "/data", { entity_type: "conf_stanzas", key, changes: { settings } });
    await set("limits/http_input", { max_number_of_ack_channel: "0" });
    expect(await health()).toBe(19);
    await set("limits/http_input", {});
    await set("inputs/http", { queueSize: "0" });
    expect(await health()).toBe(18);
    await set("inputs/http", { disabled: "1" });
    expect(await health()).toBe(404);
  },
  async "splunk.knowledge"({ url, control }) {
    const names = [
      "macros",
      "lookups",
      "lookup_definitions",
      "tags",
      "event_types",
      "data_models",
      "saved_searches",
      "indexes",
    ];
    expect(Object.keys((await control("GET", "/data")).body.counts)).toEqual(expect.arrayContaining(names));
    const search = "search `late` | stats count";
    const ask = () =>
      request("POST", `${url}/services/search/jobs`, {
        headers: { authorization: "Bearer splunk-twin-token", ...form },
        body: new URLSearchParams({ search, exec_mode: "oneshot", output_mode: "json" }).toString(),
      });
    expect((await ask()).status).toBe(400);
    await control("POST", "/data", { data: { macros: [{ name: "late", definition: "index=main" }] } });
    expect((await ask()).status).toBe(200);
  },
};
