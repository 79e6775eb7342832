/** How a world differs from its start or its last reset. */
import engine from "@offhook/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

let twins: RunningTwins;
let base: string;
beforeEach(async () => {
  const services = "version: 1\nservices:\n  - name: shop\n    config: { stock: [lamp, chair] }\n";
  twins = await startEnvironment(services, { twins: [engine, createShop()] });
  base = addressesOf(twins, "shop").control_url;
});
afterEach(() => twins.stop());

const control = (method: string, path: string, body?: unknown) =>
  request(method, `${base}/sim${path}`, { headers: { "x-api-key": twins.apiKey }, body });

async function difference(query = "") {
  const { status, body, text } = await control("GET", `/difference${query}`);
  expect(status, text).toBe(200);
  return body;
}

const none = { tables: {}, uncompared: [], rows: [], total: 0, limit: 100, offset: 0 };

describe("the difference from the start", () => {
  test("is none at first, then what was added, changed and removed", async () => {
    expect(await difference()).toEqual(none);
    await control("POST", "/data", { data: { makers: [{ id: "m" }], things: [{ id: "vase" }] } });
    await control("PATCH", "/data", { entity_type: "things", key: "lamp", changes: { price: 7 } });
    await control("PATCH", "/data", { data: { things: [{ id: "lamp", maker: "m" }] } });
    await control("DELETE", "/data", { entity_type: "things", key: "chair" });
    await control("POST", "/files?name=note", "text");
    const { tables, rows, total } = await difference();
    expect(total).toBe(5);
    expect(tables).toEqual({
      makers: { added: 1, changed: 0, removed: 0 },
      things: { added: 1, changed: 1, removed: 1 },
      files: { added: 1, changed: 0, removed: 0 },
    });
    const things = rows.filter(({ table }: { table: string }) => table === "things");
    expect(things).toEqual([
      {
        table: "things",
        difference: "added",
        key: { id: "vase" },
        row: { id: "vase", maker: null, price: 1 },
      },
      {
        table: "things",
        difference: "changed",
        key: { id: "lamp" },
        row: { id: "lamp", maker: "m", price: 7 },
        columns: { maker: { before: null, after: "m" }, price: { before: 1, after: 7 } },
      },
      {
        table: "things",
        difference: "removed",
        key: { id: "chair" },
        row: { id: "chair", maker: null, price: 1 },
      },
    ]);
    expect(rows.at(-1)).toMatchObject({ table: "files", difference: "added", key: { name: "note" } });
  });

  test("has no row that is as it was: changed back, or added and removed", async () => {
    await control("POST", "/data", { data: { things: [{ id: "vase" }] } });
    await control("DELETE", "/data", { entity_type: "things", key: "vase" });
    await control("PATCH", "/data", { entity_type: "things", key: "lamp", changes: { price: 7 } });
    await control("PATCH", "/data", { entity_type: "things", key: "lamp", changes: { price: 1 } });
    await control("DELETE", "/data", { entity_type: "things", key: "chair" });
    await control("POST", "/data", { data: { things: [{ id: "chair" }] } });
    expect(await difference()).toEqual(none);
  });

  test("is one from the last reset, whatever that loaded", async () => {
    await control("POST", "/data", { data: { things: [{ id: "vase" }] } });
    await control("POST", "/files?name=note", "text");
    await control("POST", "/reset", { profile: "rich" });
    expect(await difference()).toEqual(none);
    await control("DELETE", "/data", { entity_type: "things", key: "gold" });
    expect((await difference()).tables).toEqual({ things: { added: 0, changed: 0, removed: 1 } });
    await control("POST", "/files?name=note", "text");
    await control("POST", "/reset", (await control("POST", "/snapshot")).body);
    expect(await difference()).toEqual(none);
    await control("DELETE", "/files/note");
    expect((await difference()).tables).toEqual({ files: { added: 0, changed: 0, removed: 1 } });
  });

  test("is read by table and in pages", async () => {
    const things = Array.from({ length: 30 }, (_, index) => ({ id: `thing-${index}` }));
    await control("POST", "/data", { data: { makers: [{ id: "m" }], things } });
    const page = await difference("?table=things&limit=2&offset=29");
    expect(page).toMatchObject({ total: 30, rows: [{ key: { id: "thing-29" } }] });
    expect(page.tables.makers.added).toBe(1);
    expect((await control("GET", "/difference?limit=1e2")).status).toBe(422);
    expect((await control("GET", "/difference?shoe=1")).status).toBe(422);
  });
});
