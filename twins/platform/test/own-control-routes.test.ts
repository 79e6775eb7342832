/** A twin's own routes of the control plane, beside those every twin has. */
import engine from "@offhook/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { controlOperations } from "../control/serve.ts";
import { operation } from "../http/operation.ts";
import { compileTwin } from "../sandboxes/sandbox.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { sandboxRoutes } from "../testing/sandboxes.ts";
import { createShop, type Shop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

let twins: RunningTwins;
let url: string;
let control: string;
beforeAll(async () => {
  twins = await startEnvironment("version: 1\nservices: [{ name: shop, config: { stock: [lamp] } }]\n", {
    twins: [engine, createShop()],
  });
  ({ url, control_url: control } = addressesOf(twins, "shop"));
});
afterAll(() => twins.stop());

const ask = (method: string, path: string, body?: unknown) =>
  request(method, `${control}/sim${path}`, { headers: { "x-api-key": twins.apiKey }, body });

test("its handler is given the running twin, the path's names and the key's check", async () => {
  const answer = await ask("GET", "/stock/lamp");
  expect([answer.status, answer.body]).toEqual([200, { price: 1 }]);
  expect((await ask("GET", "/stock/vase")).body.error).toMatchObject({ code: "not_found" });
  expect((await request("GET", `${control}/sim/stock/lamp`)).status).toBe(401);
});

test("a write that the world refuses is answered as on the common routes", async () => {
  const refused = await ask("POST", "/stock/lamp");
  expect(refused.status).toBe(422);
  expect(refused.body.error.problems[0]).toMatchObject({ table: "things" });
});

test("it is not at the vendor's address, where its path stays reserved", async () => {
  expect((await request("GET", `${url}/sim/stock/lamp`)).status).toBe(404);
});

test("the journal has it in the control tier, under its id", async () => {
  await ask("GET", "/stock/lamp");
  await request("GET", `${control}/sim/stock/lamp`);
  const { requests } = (await ask("GET", "/requests?operation=stock.read&order=newest&limit=2")).body;
  expect(requests).toMatchObject([
    { tier: "control", path: "/sim/stock/lamp", status: 401 },
    { tier: "control", path: "/sim/stock/lamp", status: 200 },
  ]);
});

test("no fault hits it: one for all operations does not, and none can name it", async () => {
  const fault = { effect: "status", status: 503 };
  expect((await ask("POST", "/faults", { ...fault, all: true })).status).toBe(201);
  expect((await request("GET", `${url}/things`)).status).toBe(503);
  expect((await ask("GET", "/stock/lamp")).status).toBe(200);
  await ask("DELETE", "/faults");
  expect((await ask("POST", "/faults", { ...fault, operation: "stock.read" })).status).toBe(422);
});

test("operations?surface=control lists it after the common routes, and no other list has it", async () => {
  const { operations } = (await ask("GET", "/operations?surface=control")).body;
  expect(operations).toHaveLength(controlOperations.length + 2);
  expect(operations[0]).toMatchObject({ id: "health", path: "/sim/health", surface: "control" });
  expect(operations.at(-2)).toEqual({
    id: "stock.read",
    method: "GET",
    path: "/sim/stock/:id",
    surface: "control",
    summary: "What one thing costs, as the shop's own control route says it.",
  });
  expect((await ask("GET", "/operations")).text).not.toContain("/sim/");
});

test("in the legacy layout it is at the vendor's address, without a key", async () => {
  const { body } = await sandboxRoutes(twins)("POST", "", { id: "pinned", layout: "legacy" });
  const shop = body.twins.find(({ name }: { name: string }) => name === "shop");
  const answer = await request("GET", `${shop.control_url}/sim/stock/lamp`);
  expect([answer.status, answer.body]).toEqual([200, { price: 1 }]);
});

describe("a definition is refused at start", () => {
  test.each([
    ["GET", "/sim/data", "the control route /sim/data clashes with the common /sim/data"],
    ["PUT", "/sim/schema", "the control route /sim/schema clashes with the common /sim/schema"],
    ["GET", "/sim/:anything", "the control route /sim/:anything clashes with the common /sim/health"],
    ["GET", "/sim/files/special", "the control route /sim/files/special clashes with the common /sim/files/"],
    ["GET", "/stock", "the control route /stock is not below /sim/"],
    ["GET", "/sim/stock/:name", "GET /sim/stock/:name is declared twice"],
  ] as const)("%s %s", async (method, path, reason) => {
    const shop = createShop();
    const added = operation<Shop>({
      id: "added",
      method,
      path,
      surface: "rest",
      summary: "Added.",
      handle: () => ({ status: 204 }),
    });
    const definition = { ...shop, controlOperations: [...(shop.controlOperations ?? []), added] };
    expect(() => compileTwin(definition, controlOperations)).toThrow(`twin shop: ${reason}`);
    const start = startEnvironment("version: 1\nservices: [{ name: shop }]\n", {
      twins: [engine, definition],
    });
    await expect(start).rejects.toThrow(reason);
  });
});
