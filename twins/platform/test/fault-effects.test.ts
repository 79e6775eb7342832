import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { performance } from "node:perf_hooks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FaultyShop, startFaultyShop } from "../testing/faulty-shop.ts";
import { request } from "../testing/http.ts";
import { sendRaw } from "../testing/raw-http.ts";
import { addressesOf } from "../testing/twins.ts";

let shop: FaultyShop;
beforeEach(async () => {
  shop = await startFaultyShop();
});
afterEach(() => shop.stop());

const all = JSON.stringify([
  { id: "lamp", maker: null, price: 1 },
  { id: "chair", maker: null, price: 1 },
]);

/** Why a fetch failed, as the client under test would see it. */
async function failure(url: string, init: RequestInit = {}): Promise<string> {
  try {
    const response = await fetch(url, init);
    await response.text();
  } catch (error) {
    const { cause } = Object(error);
    return cause?.code ?? cause?.cause?.code ?? Object(error).name;
  }
  return "no failure";
}

/** What a client reads until the connection ends, and the error it ends with. */
async function readToTheEnd(path: string): Promise<{ text: string; error: string | undefined }> {
  const { hostname, port, pathname } = new URL(`${shop.url}${path}`);
  const socket = net.connect(Number(port), hostname);
  let text = "";
  let error: string | undefined;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", (reason: NodeJS.ErrnoException) => {
    error = reason.code;
  });
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await new Promise((resolve) => socket.once("close", resolve));
  return { text, error };
}

describe("status", () => {
  test("is answered in the vendor's own shape, without the operation being carried out", async () => {
    await shop.arm({ effect: "status", status: 503, retry_after: 7, operation: "thing.list" });
    const answer = await request("GET", `${shop.url}/things`);
    expect(answer.status).toBe(503);
    expect(answer.body).toEqual({ fault: "the shop is out of order: 503" });
    expect(answer.headers.get("retry-after")).toBe("7");
  });

  test("stands in the journal with the fault that made it", async () => {
    const { id } = await shop.arm({ effect: "status", status: 503, operation: "thing.list", times: 1 });
    await request("GET", `${shop.url}/things`);
    await request("GET", `${shop.url}/things`);
    const [hit, spared] = await shop.requests();
    expect(hit).toMatchObject({ status: 503, operation: "thing.list", fault: `${id} status` });
    expect(spared).toMatchObject({ status: 200, fault: null });
  });
});

describe("reset", () => {
  test("at the request: the connection is reset and nothing was done", async () => {
    await shop.arm({ effect: "reset", operation: "thing.list" });
    expect(await readToTheEnd("/things")).toEqual({ text: "", error: "ECONNRESET" });
    expect(await failure(`${shop.url}/things`)).toBe("ECONNRESET");
    expect((await shop.requests())[0]).toMatchObject({ status: null, response: { body: null } });
  });

  test("at the response: all was done, and the client is not told", async () => {
    const { control_url } = addressesOf(shop.twins, "engine");
    const headers = { "x-api-key": shop.twins.apiKey };
    const fault = { effect: "reset", at: "response", operation: "simulation.create", times: 1 };
    await request("POST", `${control_url}/sim/faults`, { headers, body: fault });
    const simulations = `${shop.twins.baseUrl}/simulations`;
    const create = { method: "POST", body: JSON.stringify({ id: "twice" }) };
    expect(await failure(simulations, create)).toBe("ECONNRESET");
    expect((await fetch(simulations, create)).status).toBe(409);
  });

  test("in the body: the head and half of the body arrive, then the connection is reset", async () => {
    await shop.arm({ effect: "reset", at: "body", operation: "thing.list" });
    const { text, error } = await readToTheEnd("/things");
    // Node reads a reset that comes on the heels of data as an end; that it is no regular one shows in the missing half.
    expect([undefined, "ECONNRESET"]).toContain(error);
    expect(text).toContain(`content-length: ${all.length}\r\n`);
    expect(text.endsWith(`\r\n\r\n${all.slice(0, Math.floor(all.length / 2))}`)).toBe(true);
    expect(await failure(`${shop.url}/things`)).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
  });
});

describe("hang", () => {
  test("never answers; when the fault is removed, the request is carried out", async () => {
    const { id } = await shop.arm({ effect: "hang", operation: "thing.list", times: 1 });
    let answered = false;
    const asked = request("GET", `${shop.url}/things`).finally(() => {
      answered = true;
    });
    await expect.poll(async () => (await shop.only()).hits).toBe(1);
    expect((await request("GET", `${shop.url}/things`)).status).toBe(200);
    expect(answered).toBe(false);
    await shop.control("DELETE", `/faults/${id}`);
    expect((await asked).text).toBe(all);
  });

  test("a client that leaves ends it, and the journal says that nothing was answered", async () => {
    await shop.arm({ effect: "hang", operation: "thing.list" });
    expect(await failure(`${shop.url}/things`, { signal: AbortSignal.timeout(50) })).toBe("TimeoutError");
    await expect
      .poll(async () => (await shop.requests())[0])
      .toMatchObject({ status: null, fault: "fault-1 hang", duration_ms: expect.any(Number) });
  });

  test("does not keep the twins from stopping", async () => {
    const other = await startFaultyShop();
    await other.arm({ effect: "hang", all: true });
    const asked = failure(`${other.url}/things`);
    await expect.poll(async () => (await other.only()).hits).toBe(1);
    await other.stop();
    expect(await asked).not.toBe("no failure");
  });
});

describe("slow", () => {
  test("answers after the delay", async () => {
    await shop.arm({ effect: "slow", delay_ms: 120, operation: "thing.list" });
    const startedAt = performance.now();
    expect((await request("GET", `${shop.url}/things`)).text).toBe(all);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(119);
  });

  test("dribbles the whole answer at the rate that is asked for", async () => {
    await shop.arm({ effect: "slow", bytes_per_second: 400, operation: "thing.list" });
    const pieces: number[] = [];
    const startedAt = performance.now();
    const [response] = await once(http.get(`${shop.url}/things`), "response");
    let text = "";
    for await (const chunk of response) {
      pieces.push(chunk.length);
      text += chunk;
    }
    expect(text).toBe(all);
    expect(response.headers["content-length"]).toBe(String(all.length));
    expect(pieces.length).toBeGreaterThan(1);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(((all.length - 20) / 400) * 1000);
    await expect.poll(async () => (await shop.requests())[0].response?.body).toEqual(JSON.parse(all));
  });

  test("dribbles a streamed answer as well", async () => {
    await shop.arm({ effect: "slow", bytes_per_second: 100, operation: "stream" });
    expect((await request("GET", `${shop.url}/stream`)).text).toBe("one two three");
  });

  test("a delay goes before any other effect", async () => {
    await shop.arm({ effect: "status", status: 500, delay_ms: 60, operation: "thing.list" });
    const startedAt = performance.now();
    expect((await request("GET", `${shop.url}/things`)).status).toBe(500);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(59);
  });
});

describe("truncate", () => {
  test("announces the whole body, sends its beginning and ends the connection regularly", async () => {
    await shop.arm({ effect: "truncate", bytes: 5, operation: "thing.list" });
    const { text, error } = await readToTheEnd("/things");
    expect(error).toBeUndefined();
    expect(text).toContain(`content-length: ${all.length}\r\n`);
    expect(text.endsWith(`\r\n\r\n${all.slice(0, 5)}`)).toBe(true);
    expect(await failure(`${shop.url}/things`)).toBe("UND_ERR_SOCKET");
    expect((await shop.requests())[0]).toMatchObject({ status: 200, response: { body: all.slice(0, 5) } });
  });

  test("never sends the whole body, however many bytes are asked for", async () => {
    await shop.arm({ effect: "truncate", bytes: 1_000_000, operation: "thing.list" });
    expect((await readToTheEnd("/things")).text.endsWith(all.slice(0, -1))).toBe(true);
  });

  test("a streamed answer lacks its end, an answer without a body is not sent at all", async () => {
    await shop.arm({ effect: "truncate", all: true });
    const streamed = await readToTheEnd("/stream");
    expect(streamed.text.endsWith("\r\n\r\n2\r\non\r\n")).toBe(true);
    const empty = await sendRaw(
      shop.url,
      "POST /s/dev/shop/call/x/control HTTP/1.1\r\nHost: localhost\r\n\r\n",
    );
    expect(empty).toBe("");
  });
});
