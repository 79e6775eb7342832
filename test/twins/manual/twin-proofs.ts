/** Proofs of what each twin says of itself. */

import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { request } from "@offhook/platform/testing/http";
import { sendRaw } from "@offhook/platform/testing/raw-http";
import { startWebhookServer } from "@offhook/platform/testing/webhook-server";
import { KEY, websocketCall } from "@offhook/vapi/testing/voice-runtime";
import pg from "pg";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { startProjectTwins } from "../../../twins/start.ts";
import type { TwinUnderTest } from "../../support/every-twin.ts";
import type { Proofs } from "./proof.ts";

export const engineProofs: Proofs = {
  async "engine.no-credentials"({ url }) {
    expect((await request("POST", `${url}/simulations`, { body: {} })).status).toBe(201);
  },
  async "engine.simulation-again"({ vendor, control }) {
    expect((await vendor("POST", "/simulations", { id: "same", scenario: "first" })).status).toBe(201);
    expect((await vendor("POST", "/simulations", { id: "same", scenario: "first" })).status).toBe(409);
    expect((await control("GET", "/data?entity_type=simulations&id=same")).body.total).toBe(1);
  },
  async "engine.simulation-without-id"({ vendor }) {
    const first = await vendor("POST", "/simulations", {});
    const second = await vendor("POST", "/simulations", {});
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  },
  async "engine.event-again"({ vendor }) {
    await vendor("POST", "/simulations", { id: "twice" });
    const event = { service: "agent", event_type: "said", data: { words: "hello" } };
    const answers = [
      await vendor("POST", "/simulations/twice/events", event),
      await vendor("POST", "/simulations/twice/events", event),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect((await vendor("GET", "/simulations/twice/events")).body.events).toHaveLength(2);
  },
  async "engine.end-again"({ vendor }) {
    await vendor("POST", "/simulations", { id: "over" });
    const { ended_at } = (await vendor("POST", "/simulations/over/end")).body;
    expect(ended_at).toEqual(expect.any(String));
    expect((await vendor("POST", "/simulations/over/end")).body).toMatchObject({ id: "over", ended_at });
  },
  async "engine.trace"({ vendor, twins }) {
    await vendor("POST", "/simulations", { id: "traced" });
    await request("GET", `${twins.baseUrl}/s/dev/vapi/call`);
    await vendor("POST", "/simulations/traced/events", { service: "agent", event_type: "said", data: {} });
    await vendor("POST", "/simulations/traced/end");
    expect((await vendor("GET", "/simulations/traced/trace")).body.trace).toMatchObject([
      { source: "vendor", service: "vapi", method: "GET", path: "/call" },
      { source: "agent", event_type: "said" },
    ]);
  },
  async "engine.profile"({ vendor, control }) {
    await vendor("POST", "/simulations", { id: "before" });
    expect((await control("POST", "/reset", { profile: "default" })).body.counts.simulations).toBe(0);
    expect((await control("POST", "/reset", { profile: "other" })).body.error.problems).toMatchObject([
      { rule: "no such profile; this twin has default" },
    ]);
  },
  async "engine.root"({ vendor, twins }) {
    await vendor("POST", "/simulations", { id: "root" });
    expect((await request("GET", `${twins.baseUrl}/simulations/root`)).body).toMatchObject({ id: "root" });
  },
  async "engine.unknown-simulation"({ vendor }) {
    const event = { service: "agent", event_type: "said", data: {} };
    expect((await vendor("POST", "/simulations/none/events", event)).status).toBe(404);
  },
};

function api(twin: TwinUnderTest, key: string | undefined = KEY) {
  const headers = {
    "content-type": "application/json",
    "user-agent": "test",
    authorization: `Bearer ${key}`,
  };
  return (method: string, path: string, body?: unknown) =>
    request(method, `${twin.url}${path}`, { headers, body });
}

export const vapiProofs: Proofs = {
  async "vapi.key"(twin) {
    expect((await api(twin)("GET", "/call")).status).toBe(200);
  },
  async "vapi.more-keys"(twin) {
    const ask = api(twin, "another-key-1");
    expect((await ask("GET", "/call")).status).toBe(401);
    const key_sha256 = createHash("sha256").update("another-key-1").digest("hex");
    await twin.control("POST", "/data", { data: { api_keys: [{ id: "another", key_sha256 }] } });
    expect((await ask("GET", "/call")).status).toBe(200);
    await twin.control("DELETE", "/data", { entity_type: "api_keys", key: "another" });
    expect((await ask("GET", "/call")).status).toBe(401);
  },
  async "vapi.wrong-key"(twin) {
    for (const answer of [await twin.vendor("GET", "/call"), await api(twin, "wrong")("GET", "/call")]) {
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ statusCode: 401, error: "Unauthorized" });
    }
  },
  async "vapi.user-agent"({ url }) {
    const { pathname, origin, host } = new URL(url);
    const lines = `Host: ${host}\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\n\r\n`;
    expect(await sendRaw(origin, `GET ${pathname}/call HTTP/1.1\r\n${lines}`)).toMatch(/^HTTP\/1\.1 403 /);
  },
  async "vapi.call-again"(twin) {
    const first = await api(twin)("POST", "/call", websocketCall());
    const second = await api(twin)("POST", "/call", websocketCall());
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.id).not.toBe(first.body.id);
    expect((await api(twin)("GET", "/call")).body).toHaveLength(2);
  },
  async "vapi.assistant-again"(twin) {
    const first = await api(twin)("POST", "/assistant", { name: "same" });
    const second = await api(twin)("POST", "/assistant", { name: "same" });
    expect(second.body.id).not.toBe(first.body.id);
    expect((await api(twin)("GET", "/assistant")).body).toHaveLength(2);
  },
  async "vapi.change-again"(twin) {
    const { id } = (await api(twin)("POST", "/assistant", { name: "before" })).body;
    const changes = { name: "after", firstMessage: "Hello." };
    const first = (await api(twin)("PATCH", `/assistant/${id}`, changes)).body;
    const second = (await api(twin)("PATCH", `/assistant/${id}`, changes)).body;
    expect({ ...second, updatedAt: "" }).toEqual({ ...first, updatedAt: "" });
  },
  async "vapi.delete-again"(twin) {
    const { id } = (await api(twin)("POST", "/call", websocketCall())).body;
    expect((await api(twin)("DELETE", `/call/${id}`)).body).toMatchObject({ id, status: "ended" });
    expect((await api(twin)("GET", `/call/${id}`)).status).toBe(200);
    expect((await api(twin)("DELETE", `/call/${id}`)).status).toBe(200);
    expect((await api(twin)("DELETE", `/call/${id}`)).status).toBe(404);
  },
  async "vapi.callbacks"(twin) {
    const organisation = await startWebhookServer();
    const assistants = await startWebhookServer();
    const headers = { "x-hook": "organisation" };
    await twin.control("PUT", "/client", { url: `${organisation.url}/hook`, headers });
    const own = { assistant: { firstMessage: "Hello.", server: { url: `${assistants.url}/own` } } };
    const first = (await api(twin)("POST", "/call", websocketCall())).body;
    const second = (await api(twin)("POST", "/call", websocketCall(own))).body;
    await twin.control("DELETE", "/client");
    for (const { transport } of [first, second]) {
      const socket = new WebSocket(transport.websocketCallUrl);
      await new Promise((resolve) => socket.once("open", resolve));
      socket.close();
    }
    const toOrganisation = await organisation.waitFor(
      ({ body }) => body.message.type === "end-of-call-report",
    );
    const toAssistant = await assistants.waitFor(({ body }) => body.message.type === "end-of-call-report");
    expect(toOrganisation).toMatchObject({ path: "/hook", headers });
    expect(toOrganisation.body.message.call.id).toBe(first.id);
    expect(toAssistant.body.message.call.id).toBe(second.id);
    expect(organisation.calls.filter(({ body }) => body.message.call.id === second.id)).toEqual([]);
    await organisation.stop();
    await assistants.stop();
  },
  async "vapi.profile"({ control }) {
    await control("POST", "/data", { data: { api_keys: [{ id: "x", key_sha256: "0".repeat(64) }] } });
    expect((await control("POST", "/reset", { profile: "default" })).body.counts.api_keys).toBe(1);
    expect((await control("POST", "/reset", { profile: "other" })).status).toBe(422);
  },
  async "vapi.recordings"(twin) {
    const { id, transport } = (await api(twin)("POST", "/call", websocketCall())).body;
    const socket = new WebSocket(transport.websocketCallUrl);
    await new Promise((resolve) => socket.once("open", resolve));
    const sent = Buffer.from(Int16Array.from({ length: 12_000 }, (_, at) => at).buffer);
    socket.send(sent);
    socket.ping();
    await new Promise((resolve) => socket.once("pong", resolve));
    await api(twin)("DELETE", `/call/${id}`);
    socket.terminate();
    const { customerUrl } = (await api(twin)("GET", `/call/${id}`)).body.artifact.recording.mono;
    const file = Buffer.from(await (await fetch(customerUrl)).arrayBuffer());
    expect(file.subarray(44).equals(sent)).toBe(true);
    await twin.control("POST", "/reset");
    expect((await fetch(customerUrl)).status).toBe(404);
  },
  async "vapi.reset-calls"(twin) {
    const created = (await api(twin)("POST", "/call", websocketCall())).body;
    const socket = new WebSocket(created.transport.websocketCallUrl);
    await new Promise((resolve) => socket.once("open", resolve));
    const live = (await api(twin)("POST", "/call", websocketCall())).body.subscriptionLimits;
    await twin.control("POST", "/reset");
    const fresh = (await api(twin)("POST", "/call", websocketCall())).body.subscriptionLimits;
    expect(fresh.remainingConcurrentCalls).toBe(live.remainingConcurrentCalls + 1);
    expect((await twin.control("GET", "/data")).body.counts.calls).toBe(1);
    socket.terminate();
  },
};

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

export const postgresProofs: Proofs = {
  async "postgres.role"({ url }) {
    await withClient(url, async (client) => {
      expect((await client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    });
    const wrong = new URL(url);
    wrong.password = "wrong-password";
    await expect(withClient(wrong.href, async () => {})).rejects.toMatchObject({ code: "28P01" });
  },
  async "postgres.no-http"({ vendor }) {
    for (const path of ["/", "/sim/health", "/anything"]) {
      expect((await vendor("GET", path)).status).toBe(404);
    }
  },
  async "postgres.insert-again"({ url }) {
    const insert = "INSERT INTO services VALUES ('mail', 'Letters.')";
    await withClient(url, async (client) => {
      await client.query(insert);
      await expect(client.query(insert)).rejects.toMatchObject({ code: "23505" });
    });
  },
  async "postgres.insert-without-key"({ url }) {
    const insert = "INSERT INTO incidents (service, severity, title) VALUES ('search', 1, 'x') RETURNING id";
    await withClient(url, async (client) => {
      const first = (await client.query(insert)).rows[0].id;
      expect((await client.query(insert)).rows[0].id).not.toBe(first);
    });
  },
  async "postgres.sequences"({ control }) {
    const where = { sequence: "incident_number" };
    const entity_type = "pg_sequences";
    const changes = { last_value: 5000 };
    expect((await control("PATCH", "/data", { entity_type, where, changes })).status).toBe(200);
    const { tables } = (await control("POST", "/snapshot")).body;
    expect(tables.pg_sequences).toContainEqual(expect.objectContaining({ ...where, ...changes }));
    expect((await control("DELETE", "/data", { entity_type, where })).status).toBe(422);
    const data = { pg_sequences: [{ sequence: "more", last_value: "1", is_called: false }] };
    expect((await control("POST", "/data", { data })).status).toBe(422);
  },
  async "postgres.profiles"({ control, twins }) {
    const seeded = (await control("POST", "/reset")).body.counts.incidents;
    await control("POST", "/data", { data: { incidents: [{ service: "search", severity: 1, title: "x" }] } });
    expect((await control("POST", "/reset", { profile: "default" })).body.counts.incidents).toBe(seeded);
    const folder = await mkdtemp(path.join(tmpdir(), "profiles-"));
    await writeFile(path.join(folder, "pets.sql"), "CREATE TABLE pets (name text PRIMARY KEY)");
    await writeFile(path.join(folder, "cats.sql"), "INSERT INTO pets VALUES ('Tom')");
    const file = path.join(folder, "environment.yaml");
    const config = { SCHEMA_PATH: "pets.sql", profiles: { cats: "cats.sql" } };
    await writeFile(file, JSON.stringify({ version: 1, services: [{ name: "postgres", config }] }));
    const own = await startProjectTwins({ environmentFile: file, apiKey: twins.apiKey });
    const address = own.sandboxes[0]?.twins.find(({ name }) => name === "postgres")?.control_url;
    const headers = { "x-api-key": twins.apiKey };
    const reset = (profile: string) =>
      request("POST", `${address}/sim/reset`, { headers, body: { profile } });
    expect((await reset("cats")).body.counts.pets).toBe(1);
    expect((await reset("default")).body.counts.pets).toBe(0);
    expect((await reset("dogs")).body.error.problems).toMatchObject([
      { rule: "no such profile; this twin has default, cats" },
    ]);
    await own.stop();
    await rm(folder, { recursive: true });
  },
  async "postgres.reset"({ url, control }) {
    const client = new pg.Client({ connectionString: url });
    const ended = new Promise((resolve) => client.once("end", resolve));
    client.on("error", () => {});
    await client.connect();
    await client.query("CREATE TABLE made_since (id int)");
    await control("POST", "/reset");
    await ended;
    expect((await control("GET", "/data")).body.counts).not.toHaveProperty("made_since");
  },
  async "postgres.statements"({ url, control }) {
    const { newest_seq: since } = (await control("GET", "/requests?limit=1")).body;
    await withClient(url, async (client) => {
      await client.query("SELECT $1::int", [7]);
      await client.query("SELECT 1 / 0").catch(() => {});
    });
    expect(
      (await control("GET", `/requests?tier=vendor&operation=statement&since=${since}`)).body.requests,
    ).toMatchObject([
      { body: { parameters: ["7"] }, status: 200, response: { body: { rows: 1 } } },
      {
        body: { statement: "SELECT 1 / 0" },
        status: 400,
        response: { body: { error: { sqlstate: "22012" } } },
      },
    ]);
  },
  async "postgres.tables"({ url, control }) {
    await withClient(url, async (client) => {
      await client.query("CREATE TABLE made_now (id int); INSERT INTO made_now VALUES (1)");
    });
    expect((await control("GET", "/data?entity_type=made_now")).body).toMatchObject({ rows: [{ id: 1 }] });
  },
  async "postgres.definitions"({ url, control }) {
    const definition = "CREATE TABLE public.defined_since (id integer)";
    await withClient(url, async (client) => {
      await client.query("CREATE TABLE defined_since (id int); INSERT INTO defined_since VALUES (7)");
    });
    const { tables } = (await control("POST", "/snapshot")).body;
    expect(tables.pg_definitions).toContainEqual({ object: "table public.defined_since", definition });
    await withClient(url, async (client) => {
      await client.query("DROP TABLE defined_since");
    });
    expect((await control("POST", "/reset", { data: tables })).status).toBe(200);
    expect((await control("POST", "/snapshot")).body.tables).toEqual(tables);
  },
  async "postgres.clock"({ url, control }) {
    await control("PUT", "/clock", { now: "1999-12-31T23:59:59Z", frozen: true });
    await withClient(url, async (client) => {
      const { rows } = await client.query("SELECT now() > '2020-01-01' AS of_the_server");
      expect(rows).toEqual([{ of_the_server: true }]);
      const insert = "INSERT INTO incidents (service, severity, title) VALUES ('search', 1, 'x')";
      const made = await client.query(`${insert} RETURNING opened_at > '2020-01-01' AS of_the_server`);
      expect(made.rows).toEqual([{ of_the_server: true }]);
    });
    await control("POST", "/reset-world");
  },
  async "postgres.faults"({ control }) {
    for (const effect of ["reset", "hang", "slow"]) {
      for (const operation of ["connection", "statement"]) {
        const delay = effect === "slow" ? { delay_ms: 1 } : {};
        expect((await control("POST", "/faults", { effect, operation, ...delay })).status).toBe(201);
      }
    }
    for (const effect of ["status", "truncate", "drop"]) {
      expect((await control("POST", "/faults", { effect, all: true })).status).toBe(422);
    }
    await control("DELETE", "/faults");
  },
};
