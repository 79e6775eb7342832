/**
 * What changes in a sandbox: the log of its worlds' changes, and the stream of requests and changes.
 * Proves a part of twins/SECURITY.md.
 */
import { once } from "node:events";
import http from "node:http";
import engine from "@offhook/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { keyEntry } from "../http/api-keys.ts";
import type { RunningTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { sandboxRoutes } from "../testing/sandboxes.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

const services = "version: 1\nservices:\n  - name: shop\n    config: { stock: [lamp] }\n";
const OTHER_KEY = "key-of-another-organisation";

let twins: RunningTwins;
let ask: ReturnType<typeof sandboxRoutes>;

beforeEach(async () => {
  const keys = [keyEntry("local", "our own key"), keyEntry("acme", OTHER_KEY)];
  twins = await startEnvironment(services, { twins: [engine, createShop()], keys });
  ask = sandboxRoutes(twins);
});
afterEach(() => twins.stop());

function control(twin: string, method: string, path: string, body?: unknown) {
  const { control_url } = addressesOf(twins, twin);
  return request(method, `${control_url}/sim${path}`, { headers: { "x-api-key": twins.apiKey }, body });
}

async function changes(query = "") {
  const answer = await ask("GET", `/dev/changes${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

describe("GET /sandboxes/{id}/changes", () => {
  test("has the changes of every twin since the start, with what was there before", async () => {
    expect(await changes()).toEqual({ changes: [], total: 0, limit: 100, offset: 0, dropped: 0 });
    await control("shop", "POST", "/data", { data: { things: [{ id: "vase" }] } });
    await control("shop", "PATCH", "/data", { entity_type: "things", key: "vase", changes: { price: 7 } });
    await control("shop", "PATCH", "/data", { data: { things: [{ id: "vase", price: 8 }] } });
    await control("shop", "DELETE", "/data", { entity_type: "things", key: "vase" });
    await request("POST", `${twins.baseUrl}/simulations`, { body: { id: "s-1" } });
    const made = { id: "vase", maker: null, price: 1 };
    const page = await changes();
    expect(page.total).toBe(5);
    const common = {
      twin: "shop",
      table: "things",
      key: { id: "vase" },
      at: expect.any(String),
      simulated_at: expect.any(String),
    };
    expect(page.changes.slice(0, 4)).toEqual([
      { ...common, state_version: 2, change: "insert", row: made },
      { ...common, state_version: 3, change: "update", row: { ...made, price: 7 }, before: made },
      {
        ...common,
        state_version: 4,
        change: "update",
        row: { ...made, price: 8 },
        before: { ...made, price: 7 },
      },
      { ...common, state_version: 5, change: "remove", row: { ...made, price: 8 } },
    ]);
    expect(page.changes[4]).toMatchObject({ twin: "engine", table: "simulations", key: { id: "s-1" } });
  });

  test("is filtered by twin, table and time, newest first when asked, and paged", async () => {
    await control("shop", "POST", "/data", { data: { makers: [{ id: "m" }], things: [{ id: "vase" }] } });
    await request("POST", `${twins.baseUrl}/simulations`, { body: { id: "s-1" } });
    const all = (await changes()).changes;
    const tables = async (query: string) =>
      (await changes(query)).changes.map(({ table }: { table: string }) => table);
    expect(await tables("?twin=engine")).toEqual(["simulations"]);
    expect(await tables("?twin=engine&twin=shop")).toEqual(["makers", "things", "simulations"]);
    expect(await tables("?table=things")).toEqual(["things"]);
    expect((await changes("?order=newest&limit=1&offset=1")).changes).toEqual([all[1]]);
    expect(await tables(`?until=${all[0].at}&since=${all[0].at}`)).toContain("makers");
    const later = new Date(Date.parse(all[2].at) + 60_000).toISOString();
    expect(await tables(`?since=${later}`)).toEqual([]);
    expect((await ask("GET", "/dev/changes?twin=shoe")).status).toBe(422);
    expect((await ask("GET", "/dev/changes?shoe=1")).status).toBe(422);
  });

  test("has one entry for a reset of a twin, whatever it holds", async () => {
    await control("shop", "POST", "/files?name=note", "text");
    await control("shop", "POST", "/reset");
    await ask("POST", "/dev/reset");
    const kinds = (await changes()).changes.map((change: Record<string, unknown>) => [
      change.twin,
      change.change,
      change.table,
      change.row,
    ]);
    expect(kinds).toEqual([
      ["shop", "insert", "files", expect.objectContaining({ name: "note" })],
      ["shop", "reset", "*", null],
      ["engine", "reset", "*", null],
    ]);
  });

  test("counts the rows of a large write beyond its first hundred", async () => {
    const things = Array.from({ length: 2500 }, (_, index) => ({ id: `thing-${index}` }));
    await control("shop", "POST", "/data", { data: { things } });
    const page = await changes("?limit=1000");
    expect(page.total).toBe(101);
    expect(page.changes.at(-1)).toMatchObject({
      table: "things",
      change: "insert",
      key: null,
      row: null,
      rows: 2400,
    });
  });

  test("keeps the newest 2000, and leaves out columns that are too large", async () => {
    for (let round = 0; round < 21; round++) {
      const things = Array.from({ length: 100 }, (_, index) => ({ id: `thing-${round}-${index}` }));
      await control("shop", "POST", "/data", { data: { things } });
    }
    expect(await changes("?limit=1")).toMatchObject({ total: 2000, dropped: 100 });
    const metadata = { large: "x".repeat(20_000) };
    await request("POST", `${twins.baseUrl}/simulations`, { body: { id: "large", metadata } });
    const [entry] = (await changes("?order=newest&limit=1")).changes;
    expect(entry).toMatchObject({ key: { id: "large" }, row: { id: "large" }, omitted: ["metadata"] });
    expect(entry.row).not.toHaveProperty("metadata");
  });

  test("of another organisation's sandbox is a 404, and the journal of the routes keeps no row", async () => {
    await control("shop", "POST", "/data", { data: { things: [{ id: "private vase" }] } });
    const foreign = await ask("GET", "/dev/changes", undefined, OTHER_KEY);
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe((await ask("GET", "/none/changes", undefined, OTHER_KEY)).text);
    expect((await changes()).changes[0].row.id).toBe("private vase");
    expect((await ask("GET", "/requests")).text).not.toContain("private vase");
  });
});

describe("GET /sandboxes/{id}/watch", () => {
  interface Event {
    name: string;
    data: Record<string, unknown>;
  }

  /** Opens the stream; `next` resolves to its next event. */
  async function watch(path: string, key = twins.apiKey) {
    const client = http.get(`${twins.baseUrl}/sandboxes${path}`, {
      headers: { "x-api-key": key },
      agent: false,
    });
    const [response] = (await once(client, "response")) as [http.IncomingMessage];
    const chunks = response.setEncoding("utf8")[Symbol.asyncIterator]();
    let text = "";
    return {
      response,
      close: () => client.destroy(),
      /** @returns `undefined` when the stream has ended. @throws when it was cut */
      async next(): Promise<Event | undefined> {
        while (!text.includes("\n\n")) {
          const chunk = await chunks.next();
          if (chunk.done) return undefined;
          text += chunk.value;
        }
        const end = text.indexOf("\n\n");
        const [event = "", data = ""] = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        return { name: event.slice("event: ".length), data: JSON.parse(data.slice("data: ".length)) };
      },
    };
  }

  test("says where it begins, then what is asked and what changes, in one stream", async () => {
    const stream = await watch("/dev/watch");
    expect(stream.response.headers["content-type"]).toContain("text/event-stream");
    expect(await stream.next()).toEqual({
      name: "ready",
      data: {
        twins: [
          { name: "engine", state_version: 0, newest_seq: 0 },
          { name: "shop", state_version: 1, newest_seq: 0 },
        ],
      },
    });
    await request("POST", `${twins.baseUrl}/simulations`, { body: { id: "s-1" } });
    const [logged] = (await changes()).changes;
    expect(await stream.next()).toEqual({ name: "change", data: logged });
    const asked = await stream.next();
    const [summary] = (await ask("GET", "/dev/requests")).body.requests;
    expect(asked).toEqual({ name: "request", data: summary });
    stream.close();
  });

  test.each([
    ["requests=none", ["change"]],
    ["requests=all&changes=false", ["request"]],
    ["requests=all&twin=engine", []],
    ["", ["change"]],
  ])("with %s carries what that asks for", async (query, expected) => {
    const stream = await watch(`/dev/watch?${query}`);
    await stream.next();
    await control("shop", "POST", "/data", { data: { things: [{ id: "vase" }] } });
    await control("engine", "POST", "/data", { data: { simulations: [{ id: "end" }] } });
    const names: unknown[] = [];
    for (let event = await stream.next(); event?.data.twin !== "engine"; event = await stream.next()) {
      names.push(event?.name);
    }
    expect(names).toEqual(expected);
    stream.close();
  });

  test("refuses what it does not know, a foreign key and an unknown sandbox", async () => {
    expect((await ask("GET", "/dev/watch?twin=shoe")).status).toBe(422);
    expect((await ask("GET", "/dev/watch?requests=some")).status).toBe(422);
    expect((await ask("GET", "/dev/watch?changes=yes")).status).toBe(422);
    expect((await ask("GET", "/none/watch")).status).toBe(404);
    expect((await ask("GET", "/dev/watch", undefined, OTHER_KEY)).status).toBe(404);
  });

  test("is open at most 64 times for a sandbox, and one that leaves makes room", async () => {
    const open = await Promise.all(Array.from({ length: 64 }, () => watch("/dev/watch")));
    expect((await ask("GET", "/dev/watch")).body.error.code).toBe("too_many_watchers");
    open[0]?.close();
    await expect.poll(async () => (await watch("/dev/watch")).response.statusCode).toBe(200);
    for (const stream of open) stream.close();
  });

  test("ends with an overflow event when its reader lags behind", async () => {
    const stream = await watch("/dev/watch?requests=none");
    stream.response.pause();
    const padding = "x".repeat(12_000);
    for (let round = 0; round < 8; round++) {
      const simulations = Array.from({ length: 100 }, (_, index) => ({
        id: `s-${round}-${index}`,
        metadata: { padding },
      }));
      expect((await control("engine", "POST", "/data", { data: { simulations } })).status).toBe(201);
    }
    const names: string[] = [];
    for (let event = await stream.next(); event; event = await stream.next()) names.push(event.name);
    expect(names.at(-1)).toBe("overflow");
    expect(names.length).toBeLessThan(800);
  });

  test("ends when the sandbox ends", async () => {
    await ask("POST", "", { id: "short" });
    const stream = await watch("/short/watch");
    expect((await stream.next())?.name).toBe("ready");
    const ending = stream.next();
    expect((await ask("DELETE", "/short")).status).toBe(204);
    await expect(ending).rejects.toThrow();
    expect((await ask("GET", "/short/watch")).status).toBe(404);
  });
});
