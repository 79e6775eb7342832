import { afterAll, beforeAll, describe, expect, test } from "vitest";
import engine from "../../../twins/engine/index.ts";
import type { RunningTwins } from "../../../twins/sandbox/start.ts";
import { request } from "../../support/http.ts";
import { createShop } from "../../support/shop-twin.ts";
import { startEnvironment } from "../../support/twins.ts";

let twins: RunningTwins;
beforeAll(async () => {
  const services = "version: 1\nservices:\n  - name: shop\n    config: { stock: [lamp] }\n";
  twins = await startEnvironment(services, { twins: [engine, createShop()] });
});
afterAll(() => twins.stop());

/** A request to a sandbox route, with the key. */
function ask(method: string, path = "", body?: unknown) {
  const headers = { "x-api-key": twins.apiKey };
  return request(method, `${twins.baseUrl}/sandboxes${path}`, {
    headers,
    ...(body === undefined ? {} : { body }),
  });
}

describe("POST /sandboxes", () => {
  test("makes a sandbox with the services of the environment file, its id and addresses told", async () => {
    const made = await ask("POST");
    expect(made.status).toBe(201);
    const { id } = made.body;
    expect(made.body).toEqual({
      id: expect.stringMatching(/^sb-[0-9a-f]{12}$/),
      layout: "split",
      created_at: expect.any(String),
      expires_at: null,
      twins: ["engine", "shop"].map((name) => ({
        name,
        url: `${twins.baseUrl}/s/${id}/${name}`,
        control_url: `${twins.baseUrl}/c/${id}/${name}`,
        control_auth: "api_key",
        environment: expect.any(Object),
      })),
    });
    expect((await ask("GET", `/${id}`)).body).toEqual(made.body);
    expect((await request("GET", `${made.body.twins[1].url}/things/lamp`)).status).toBe(200);
    await ask("DELETE", `/${id}`);
  });

  test("takes an id and services of its own, the engine being there in any case", async () => {
    const services = [{ name: "shop", config: { stock: ["vase"] } }];
    const made = await ask("POST", "", { id: "mine", services });
    expect(made.status).toBe(201);
    expect(made.body.twins.map(({ name }: { name: string }) => name)).toEqual(["engine", "shop"]);
    expect((await request("GET", `${twins.baseUrl}/s/mine/shop/things`)).body).toMatchObject([
      { id: "vase" },
    ]);
    expect((await ask("POST", "", { id: "mine" })).status).toBe(409);
    expect((await ask("GET")).body.sandboxes.map(({ id }: { id: string }) => id)).toEqual(["dev", "mine"]);
    expect((await ask("DELETE", "/mine")).status).toBe(204);
    expect((await ask("GET", "/mine")).status).toBe(404);
    expect((await request("GET", `${twins.baseUrl}/s/mine/shop/things`)).status).toBe(404);
  });
});
