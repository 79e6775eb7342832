/** A port of a service has its vendor API at the root, and nothing else. Proves a part of twins/SECURITY.md. */
import { once } from "node:events";
import net from "node:net";
import engine from "@offhook/engine";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { sandboxRoutes } from "../testing/sandboxes.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

let twins: RunningTwins | undefined;
afterEach(() => twins?.stop());

async function start(service: string): Promise<RunningTwins> {
  twins = await startEnvironment(`version: 1\nservices: [${service}]\n`, { twins: [engine, createShop()] });
  return twins;
}

const onOwnPort = "{ name: shop, port: 0, config: { stock: [lamp] } }";

describe("a port of a twin's own", () => {
  test("has the vendor API at its root, sockets included, and nothing else", async () => {
    const running = await start(onOwnPort);
    const { port_url: url = "", control_url, url: path } = addressesOf(running, "shop");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(url).not.toBe(running.baseUrl);
    expect((await request("GET", `${url}/things/lamp`)).status).toBe(200);
    const headers = { "x-api-key": running.apiKey };
    for (const local of ["/sim/health", "/c/dev/shop/sim/health", "/s/dev/shop/things", "/sandboxes"]) {
      const answer = await request("GET", `${url}${local}`, { headers });
      expect(answer.body).toEqual({ fault: "the shop has no such counter" });
    }
    const socket = new WebSocket(`${url.replace("http:", "ws:")}/call/x/transport`);
    await once(socket, "open");
    socket.send("hello");
    expect(String((await once(socket, "message"))[0])).toBe("hello");
    const closed = once(socket, "close");
    expect((await request("GET", `${path}/things/lamp`)).status).toBe(200);
    const records = (await request("GET", `${control_url}/sim/requests?tier=vendor`, { headers })).body;
    expect(records.requests[0]).toMatchObject({ path: "/things/lamp", operation: "thing.get" });
    await running.stop();
    expect((await closed)[0]).toBe(1001);
  });

  test("is free again when its sandbox has ended, and other sandboxes never take it", async () => {
    const running = await start("{ name: shop }");
    const ask = sandboxRoutes(running);
    const made = await ask("POST", "", { id: "own", services: [{ name: "shop", port: 0 }] });
    const { port } = new URL(made.body.twins[1].port_url);
    const taken = { id: "late", services: [{ name: "shop", port: Number(port) }] };
    const refused = await ask("POST", "", taken);
    expect(refused.status).toBe(409);
    expect(refused.body.error.message).toContain(`port ${port}`);
    expect((await ask("GET", "/late")).status).toBe(404);
    expect((await ask("DELETE", "/own")).status).toBe(204);
    expect((await ask("POST", "", taken)).body.twins[1].port_url).toBe(`http://127.0.0.1:${port}`);
  });

  test("of the environment file's services is dev's alone", async () => {
    const running = await start(onOwnPort);
    const made = await sandboxRoutes(running)("POST");
    expect(made.status).toBe(201);
    expect(made.body.twins[1].port_url).toBeUndefined();
  });

  test("that is taken keeps the twins from starting, and the message names port and service", async () => {
    const other = net.createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as net.AddressInfo;
    const starting = start(`{ name: shop, port: ${port} }`);
    await expect(starting).rejects.toThrow(`port ${port} on 127.0.0.1 is in use`);
    await expect(starting).rejects.toThrow("service shop");
    twins = undefined;
    other.close();
  });
});
