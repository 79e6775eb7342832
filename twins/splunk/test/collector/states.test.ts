/** The states of the event collector: full queues and channels, settings that switch things off, and the end of the twin. */

import type { VendorResponse } from "@offhook/platform/http/operation";
import { request } from "@offhook/platform/testing/http";
import { twinContext } from "@offhook/platform/testing/twin-context";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import splunk from "../../index.ts";
import type { LogQueryTwin } from "../../log-query-twin.ts";
import { startLogQueryTwin } from "../../start.ts";
import { CHANNEL, type Collector, startCollector, TOKEN } from "../../testing/collector.ts";

const ACK = "11111111-0000-4000-8000-000000000002";
const DISABLED = "11111111-0000-4000-8000-000000000001";
const OTHER = "FE0ECFAD-13D5-401B-847D-77833BD77132";
const one = '{"event":"hello"}';

const answers = {
  0: [200, "Success"],
  9: [503, "Server is busy"],
  17: [200, "HEC is healthy"],
  18: [503, "HEC is unhealthy, queues are full"],
  19: [503, "HEC is unhealthy, ack service unavailable"],
  20: [503, "HEC is unhealthy, queues are full, ack service unavailable"],
  21: [400, "Invalid token"],
  22: [400, "Token disabled"],
  23: [503, "Server is shutting down"],
  24: [200, "HEC queue is approaching its capacity limit"],
  25: [200, "HEC ACK is approaching its capacity limit"],
  26: [429, "HEC queue is at capacity and cannot process any more requests"],
  27: [429, "HEC ACK channel is at capacity and cannot process any more requests"],
  28: [
    400,
    "Data channel is missing. If you have multiple indexers, sticky session load balancers must be provisioned and client requests must be routed accordingly.",
  ],
} as const;

const code = (number: keyof typeof answers, more: object = {}) => ({
  status: answers[number][0],
  body: { text: answers[number][1], code: number, ...more },
});
const said = ({ status, body }: { status: number; body: unknown }) => ({ status, body });

describe("over HTTP", () => {
  let collector: Collector;
  let start: unknown;
  beforeAll(async () => {
    collector = await startCollector();
    await collector.addToken("disabled", DISABLED, { disabled: true });
    await collector.addToken("ack", ACK, { use_ack: true });
    start = (await collector.splunk.control("POST", "/snapshot")).body.tables;
  });
  beforeEach(async () => {
    await collector.splunk.control("POST", "/reset", { data: start });
  });
  afterAll(() => collector.stop());

  const set = async (stanza: string, settings: Record<string, string>) => {
    const changes = { settings };
    const body = { entity_type: "conf_stanzas", key: stanza, changes };
    expect((await collector.splunk.control("PATCH", "/data", body)).status).toBe(200);
  };
  const health = async (query = "") =>
    said(await request("GET", `${collector.splunk.url}/services/collector/health${query}`));
  const send = async (channel: string, more: Record<string, string> = {}) => {
    const headers = { authorization: `Splunk ${ACK}`, "x-splunk-request-channel": channel, ...more };
    return said(await collector.send("", one, headers));
  };
  const ask = (channel: string, acks: number[]) =>
    collector.send("/ack", { acks }, { authorization: `Splunk ${ACK}`, "x-splunk-request-channel": channel });

  test("codes 21 and 22: health looks at a token in the address", async () => {
    expect(await health("?token=none")).toEqual(code(21));
    expect(await health(`?token=${DISABLED}`)).toEqual(code(22));
    expect(await health(`?token=${TOKEN}`)).toEqual(code(17));
    const { requests } = (await collector.splunk.control("GET", "/requests?operation=collector.health")).body;
    expect(JSON.stringify(requests)).not.toContain(DISABLED);
  });

  test("codes 9 and 19: a full channel takes nothing, and makes the collector unhealthy, until it is asked about", async () => {
    await set("limits/http_input", {
      max_number_of_acked_requests_pending_query_per_ack_channel: "2",
    });
    expect(await send(CHANNEL)).toEqual(code(0, { ackId: 0 }));
    expect(await send(CHANNEL)).toEqual(code(0, { ackId: 1 }));
    expect(await send(CHANNEL)).toEqual(code(9));
    expect(await collector.texts()).toHaveLength(2);
    expect(await health()).toEqual(code(19));
    expect((await ask(CHANNEL, [0])).body).toEqual({ acks: { 0: true } });
    expect(await health()).toEqual(code(17));
    expect(await send(CHANNEL)).toEqual(code(0, { ackId: 2 }));
  });

  test("codes 25 and 27: set to warn, a channel says that it is nearly full, and then that it is", async () => {
    await set("inputs/http", { backpressureState: "warn_at_80" });
    await set("limits/http_input", {
      max_number_of_acked_requests_pending_query_per_ack_channel: "5",
    });
    for (const ackId of [0, 1, 2, 3]) expect(await send(CHANNEL)).toEqual(code(0, { ackId }));
    expect(await health()).toEqual(code(17));
    expect(await send(CHANNEL)).toEqual(code(25, { ackId: 4 }));
    expect(await send(CHANNEL)).toEqual(code(27));
    expect(await collector.texts()).toHaveLength(5);
    // The only channel is full, so all are; with another one that is not, the collector warns.
    expect(await health()).toEqual(code(19));
    expect(await send(OTHER)).toEqual(code(25, { ackId: 0 }));
    expect(await health()).toEqual(code(25));
  });

  test("code 27: no more channels than there may be, nor more requests in all of them", async () => {
    await set("inputs/http", { backpressureState: "warn_at_80" });
    await set("limits/http_input", { max_number_of_ack_channel: "1" });
    expect((await send(CHANNEL)).body).toMatchObject({ ackId: 0 });
    expect(await send(OTHER)).toEqual(code(27));
    await set("limits/http_input", { max_number_of_acked_requests_pending_query: "1" });
    expect(await send(OTHER)).toEqual(code(27));
    expect((await ask(CHANNEL, [0])).status).toBe(200);
    expect((await send(OTHER)).body).toMatchObject({ ackId: 0 });
  });

  test("a channel that nobody uses for ten minutes is forgotten, unless idle ones are kept", async () => {
    const at = (now: string) => collector.splunk.control("PUT", "/clock", { now, frozen: true });
    await at("2026-01-31T09:00:00Z");
    expect(await send(CHANNEL)).toEqual(code(0, { ackId: 0 }));
    await at("2026-01-31T09:09:59Z");
    expect(await send(CHANNEL)).toEqual(code(0, { ackId: 1 }));
    await at("2026-01-31T09:19:59Z");
    expect(await send(CHANNEL)).toEqual(code(0, { ackId: 0 }));
    await set("inputs/http", { ackIdleCleanup: "false" });
    await at("2026-02-28T09:00:00Z");
    expect(await send(CHANNEL)).toEqual(code(0, { ackId: 1 }));
  });

  test("code 28: with the enforcement of sticky sessions a cookie of the balancer is asked for", async () => {
    await set("inputs/http", { headerEnforcementMode: "block" });
    expect(await send(CHANNEL)).toEqual(code(28));
    expect(await send(CHANNEL, { cookie: "AWSELB=1" })).toEqual(code(0, { ackId: 0 }));
    expect(said(await collector.send("", one))).toEqual(code(0));
    await set("inputs/http", { headerEnforcementMode: "block", ackRequiredAnyCookie: "mine" });
    expect(await send(CHANNEL, { cookie: "AWSELB=1" })).toEqual(code(28));
    expect(await send(CHANNEL, { cookie: "a=b; mine=2" })).toEqual(code(0, { ackId: 1 }));
  });

  test("a collector that is switched off is not there", async () => {
    await set("inputs/http", { disabled: "1" });
    const nothing = { text: "The requested URL was not found on this server.", code: 404 };
    expect(said(await collector.send("", one))).toEqual({ status: 404, body: nothing });
    expect(await health()).toEqual({ status: 404, body: nothing });
  });

  test("the protocols of MINT and of forwarders are not there", async () => {
    for (const path of ["/mint", "/mint/1.0", "/s2s", "/validate"]) {
      expect((await collector.send(path, one)).status).toBe(404);
    }
  });
});

describe("while the store is busy", () => {
  let twin: LogQueryTwin;
  beforeEach(async () => {
    twin = await startLogQueryTwin(twinContext("splunk"), splunk.config.parse({}));
    twin.tables.table("hec_tokens").update("splunk_hec_token", { use_ack: true });
    await (await twin.store()).counts();
  });

  const perform = async (method: "GET" | "POST", path: string, body = ""): Promise<VendorResponse> => {
    const operation = splunk.operations.find((one) => one.path === path && one.method === method);
    if (!operation) throw new Error(`no ${path}`);
    const headers = { authorization: `Splunk ${TOKEN}`, "x-splunk-request-channel": CHANNEL };
    const { signal } = new AbortController();
    const query = new URLSearchParams();
    return operation.handle(
      {
        method,
        path,
        origin: "http://twin.test",
        params: {},
        query,
        headers,
        body: Buffer.from(body),
        signal,
      },
      twin,
    );
  };
  const read = ({ status, body }: VendorResponse) => ({ status, body: JSON.parse(String(body)) });
  const health = async () => read(await perform("GET", "/services/collector/health"));
  const send = async (text = "hello") =>
    read(await perform("POST", "/services/collector", JSON.stringify({ event: text })));

  /** Keeps the store from writing while the work is done. */
  async function held(work: () => Promise<void>): Promise<void> {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const turn = (await twin.store()).exclusively(() => gate);
    await work();
    release();
    await turn;
  }
  const set = (settings: Record<string, string>) =>
    twin.tables.table("conf_stanzas").update("inputs/http", { settings });

  test("codes 9, 18 and 20: a full queue takes nothing, and makes the collector unhealthy", async () => {
    set({ queueSize: "1KB" });
    const sent: Promise<unknown>[] = [];
    await held(async () => {
      sent.push(send("x".repeat(2000)));
      expect(await send()).toEqual(code(9));
      expect(await health()).toEqual(code(18));
      const limits = { max_number_of_acked_requests_pending_query: "0" };
      twin.tables.table("conf_stanzas").update("limits/http_input", { settings: limits });
      expect(await health()).toEqual(code(20));
      twin.tables.table("conf_stanzas").update("limits/http_input", { settings: {} });
    });
    expect(await sent[0]).toEqual(code(0, { ackId: 0 }));
    expect(await health()).toEqual(code(17));
    expect(await send()).toEqual(code(0, { ackId: 1 }));
    await twin.stop();
  });

  test("codes 24 and 26: set to warn, the queue says that it is nearly full, and then that it is", async () => {
    set({ queueSize: "1KB", backpressureState: "warn_at_80" });
    const sent: Promise<unknown>[] = [];
    await held(async () => {
      sent.push(send("x".repeat(900)));
      expect(await health()).toEqual(code(24));
      sent.push(send("x".repeat(200)));
      expect(await send()).toEqual(code(26));
      expect(await health()).toEqual(code(18));
    });
    expect(await Promise.all(sent)).toEqual([code(24, { ackId: 0 }), code(24, { ackId: 1 })]);
    expect(await health()).toEqual(code(17));
    await twin.stop();
  });

  test("code 23: a twin that stops takes nothing more", async () => {
    const stopped = twin.stop();
    expect(await send()).toEqual(code(23));
    expect(await health()).toEqual(code(23));
    await stopped;
  });
});
