import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import engine from "@offhook/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

describe("startTwins", () => {
  test("answers addresses of every twin, split into url and control_url", async () => {
    const twins = await startEnvironment("version: 1\nservices: [{ name: shop }]\n", {
      twins: [engine, createShop()],
    });
    expect(twins.sandboxes).toEqual([
      {
        id: "dev",
        twins: ["engine", "shop"].map((name) => ({
          name,
          url: `${twins.baseUrl}/s/dev/${name}`,
          control_url: `${twins.baseUrl}/c/dev/${name}`,
          control_auth: "api_key",
          environment: expect.any(Object),
        })),
      },
    ]);
    await twins.stop();
  });

  test("listens on 127.0.0.1 and gives the port back when stopped, however often stop is called", async () => {
    const twins = await startTwins({ twins: [engine], ...(await emptyEnvironment()) });
    expect(twins.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await request("GET", `${twins.baseUrl}/simulations/x`);
    await Promise.all([twins.stop(), twins.stop()]);
    await twins.stop();
    const again = await startTwins({
      twins: [engine],
      port: Number(new URL(twins.baseUrl).port),
      ...(await emptyEnvironment()),
    });
    await again.stop();
  });

  test("a port in use is an error that says what to do", async () => {
    const taken = net.createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as net.AddressInfo;
    const starting = startTwins({ twins: [engine], port, ...(await emptyEnvironment()) });
    await expect(starting).rejects.toThrow(`port ${port} on 127.0.0.1 is in use`);
    await expect(starting).rejects.toThrow("TWINS_PORT");
    taken.close();
  });

  test("a twin that does not start is named with its reason, the others are stopped and the port is free", async () => {
    const heard: string[] = [];
    const failing = { ...createShop(), name: "failing" };
    const twins = [engine, failing, createShop((what) => heard.push(what))];
    const text =
      "version: 1\nservices:\n  - name: failing\n    config: { fails: the till is missing }\n  - name: shop\n";
    await expect(startEnvironment(text, { twins })).rejects.toThrow(
      "twin failing of sandbox dev did not start: the till is missing",
    );
    expect(heard).toEqual(["stopped"]);
  });

  test("an environment file that is not there is an error that names it", async () => {
    await expect(startTwins({ twins: [engine], environmentFile: "none/environment.yaml" })).rejects.toThrow(
      "none/environment.yaml",
    );
  });

  test("tells how the environment file says that the agent is reached and set up", async () => {
    const text =
      "version: 1\nservices: []\nactor:\n  channels: [{ type: voice_ws, url: 'ws://127.0.0.1:8008/voice' }]\nagent:\n  environment: { SIMULATION_ID: '{SIMULATION_ID}' }\n";
    const twins = await startEnvironment(text, { twins: [engine] });
    expect(twins.channels).toMatchObject([{ url: "ws://127.0.0.1:8008/voice", protocol: "binary" }]);
    expect(twins.agentEnvironment("run-1")).toEqual({ SIMULATION_ID: "run-1" });
    await twins.stop();
  });

  test("a twin that is no longer registered leaves the rest standing", async () => {
    const twins = await startEnvironment("version: 1\nservices: []\n", { twins: [engine] });
    expect(addressesOf(twins, "engine").url).toContain("/s/dev/engine");
    expect((await request("GET", `${twins.baseUrl}/s/dev/shop/things`)).status).toBe(404);
    await twins.stop();
  });
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "twins-"));
  await writeFile(path.join(folder, "environment.yaml"), "version: 1\nservices: []\n");
});
afterEach(() => rm(folder, { recursive: true }));

async function emptyEnvironment(): Promise<{ environmentFile: string }> {
  return { environmentFile: path.join(folder, "environment.yaml") };
}
