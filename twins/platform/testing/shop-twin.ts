/** A small vendor for tests of the platform: a shop with its own error shape, its own secrets and a call socket. */
import { Readable } from "node:stream";
import { z } from "zod";
import { errorResponse } from "../http/errors.ts";
import type { PlatformRefusal } from "../http/operation.ts";
import { operation, socketOperation, type VendorResponse } from "../http/operation.ts";
import { defineTwin, type RunningTwin } from "../twin/twin.ts";
import { createReset } from "../world/baseline.ts";
import { createMemoryWorld } from "../world/memory-world.ts";
import { defineTable } from "../world/table.ts";

export interface Shop extends RunningTwin {
  world: ReturnType<typeof createWorld>;
  /** Reports internal events to the test. */
  note: (what: string) => void;
}

function createWorld() {
  return createMemoryWorld({
    makers: defineTable({
      description: "Who makes things.",
      key: "id",
      columns: { id: { type: z.string().min(1), description: "Its id." } },
    }),
    things: defineTable({
      description: "What the shop sells.",
      key: "id",
      columns: {
        id: { type: z.string().min(1), description: "Its id." },
        maker: {
          type: z.string().nullable().default(null),
          description: "Who makes it.",
          references: "makers.id",
        },
        price: { type: z.int().min(0).default(1), description: "In cents." },
      },
    }),
  });
}

async function* failing() {
  yield "one ";
  throw new Error("the private reason");
}

const operations = [
  operation<Shop>({
    id: "thing.list",
    method: "GET",
    path: "/things",
    surface: "rest",
    summary: "All things.",
    handle: (_request, { world }) => ({ status: 200, body: world.table("things").all() }),
  }),
  operation<Shop>({
    id: "thing.get",
    method: "GET",
    path: "/things/:id",
    surface: "rest",
    summary: "One thing.",
    handle: ({ params }, { world }) => {
      const thing = world.table("things").get(params.id ?? "");
      return thing ? { status: 200, body: thing } : { status: 404, body: { fault: `no thing ${params.id}` } };
    },
  }),
  operation<Shop>({
    id: "counter.open",
    method: "PUT",
    path: "/:counter",
    surface: "rest",
    summary: "Opens a counter, whatever it is called.",
    handle: ({ params }) => ({ status: 201, body: { counter: params.counter } }),
  }),
  operation<Shop>({
    id: "counter.look",
    method: "HEAD",
    path: "/:counter",
    surface: "rest",
    summary: "Whether there is such a counter; there always is.",
    handle: () => ({ status: 204 }),
  }),
  operation<Shop>({
    id: "thing.special",
    method: "GET",
    path: "/things/special",
    surface: "rest",
    summary: "The special one.",
    handle: () => ({ status: 200, body: { special: true } }),
  }),
  operation<Shop>({
    id: "echo",
    method: "POST",
    path: "/echo",
    surface: "rest",
    summary: "Says what it was sent.",
    maxBodyBytes: 100_000,
    handle: ({ body, query, headers }) => ({
      status: 200,
      headers: { "content-type": "application/json", "x-shop-ticket": "ticket-secret" },
      body: JSON.stringify({
        length: body.length,
        text: body.toString("latin1").slice(0, 50_000),
        query: [...query],
        signature: headers["x-shop-signature"],
        token: "token-secret",
      }),
    }),
  }),
  operation<Shop>({
    id: "annotate",
    method: "POST",
    path: "/annotate",
    surface: "rest",
    summary: "Notes what it was sent, and says nothing of it.",
    maxBodyBytes: 100_000,
    handle: ({ body }) => ({ status: 200, body: { done: true }, notes: JSON.parse(body.toString()) }),
  }),
  operation<Shop>({
    id: "crash",
    method: "GET",
    path: "/crash",
    surface: "rest",
    summary: "Fails.",
    handle: () => {
      throw new Error("the private reason");
    },
  }),
  operation<Shop>({
    id: "hang",
    method: "GET",
    path: "/hang",
    surface: "rest",
    summary: "Answers when the client has gone.",
    handle: ({ signal }, shop) =>
      new Promise<VendorResponse>((resolve) => {
        signal.addEventListener("abort", () => {
          shop.note("aborted");
          resolve({ status: 200 });
        });
        // As many as a request's own statements may be.
        for (let statement = 0; statement < 20; statement++)
          signal.addEventListener("abort", () => undefined);
        shop.note("waiting");
      }),
  }),
  operation<Shop>({
    id: "stream",
    method: "GET",
    path: "/stream",
    surface: "rest",
    summary: "Three pieces of text.",
    handle: () => ({
      status: 200,
      headers: { "content-type": "text/plain" },
      body: Readable.from(["one ", "two ", "three"]),
    }),
  }),
  operation<Shop>({
    id: "stream.broken",
    method: "GET",
    path: "/broken-stream",
    surface: "rest",
    summary: "A stream that fails after its first piece.",
    handle: () => ({ status: 200, body: Readable.from(failing()) }),
  }),
  operation<Shop>({
    id: "call.control",
    method: "POST",
    path: "/call/:secret/control",
    surface: "rest",
    summary: "A path that is a secret.",
    handle: () => ({ status: 204 }),
  }),
  operation<Shop>({
    id: "docs",
    method: "GET",
    path: "/docs",
    surface: "graphql",
    summary: "Never answered.",
    handle: () => ({ status: 200, body: "docs" }),
  }),
];

const sockets = [
  socketOperation<Shop>({
    id: "call.transport",
    path: "/call/:secret/transport",
    surface: "rest",
    summary: "Echoes what it is sent.",
    maxPayloadBytes: 10_000,
    upgrade: ({ params }, shop) => {
      if (params.secret === "wrong") return { refuse: { status: 403, body: { fault: "no such call" } } };
      if (params.secret === "crash") throw new Error("the private reason");
      return {
        subprotocol: "shop",
        accept: (socket) => {
          socket.on("message", (data, binary) => socket.send(data, { binary }));
          socket.on("close", (code) => shop.note(`socket closed ${code}`));
        },
      };
    },
  }),
];

const controlOperations = [
  operation<Shop>({
    id: "stock.read",
    method: "GET",
    path: "/sim/stock/:id",
    surface: "rest",
    summary: "What one thing costs, as the shop's own control route says it.",
    handle: ({ params }, { world }) => {
      const thing = world.table("things").get(params.id ?? "");
      return thing
        ? { status: 200, body: { price: thing.price } }
        : errorResponse(404, "not_found", `there is no thing ${params.id}`);
    },
  }),
  operation<Shop>({
    id: "stock.add",
    method: "POST",
    path: "/sim/stock/:id",
    surface: "rest",
    summary: "Adds one thing.",
    handle: async ({ params }, { world }) => {
      await world.insert({ things: [{ id: params.id ?? "" }] });
      return { status: 201 };
    },
  }),
];

/** The shop's own words for what the platform refuses. */
export function shopRefusal(refusal: PlatformRefusal): VendorResponse {
  switch (refusal.kind) {
    case "unknown-path":
      return { status: 404, body: { fault: "the shop has no such counter" } };
    case "malformed-request":
      return { status: 400, body: { fault: refusal.message } };
    case "forbidden":
      return { status: 403, body: { fault: refusal.message } };
    case "body-too-large":
      return { status: 413, body: { fault: `at most ${refusal.limitBytes}` } };
    case "fault":
      return { status: refusal.status, body: { fault: `the shop is out of order: ${refusal.status}` } };
    case "internal":
      return { status: 500, body: { fault: "the shop is in disorder" } };
  }
}

/** @param note receives internal events */
export function createShop(note: (what: string) => void = () => undefined) {
  return defineTwin({
    name: "shop",
    vendor: "The Shop",
    versions: ["3"],
    config: z.strictObject({ stock: z.array(z.string()).default([]), fails: z.string().optional() }),
    operations,
    sockets,
    controlOperations,
    secretHeaders: ["X-Shop-Signature", "x-shop-ticket"],
    secretMembers: ["token", "password"],
    secretPathParams: ["/call/:secret/transport", "/call/:secret/control"],
    faultStatuses: [429, 500, 503],
    refusal: shopRefusal,
    async start(_context, config): Promise<Shop> {
      if (config.fails) throw new Error(config.fails);
      const world = createWorld();
      await world.insert({ things: config.stock.map((id) => ({ id })) });
      const reset = await createReset(world, {
        rich: { makers: [{ id: "m" }], things: [{ id: "gold", maker: "m", price: 999 }] },
      });
      return {
        world,
        note,
        reset,
        stop: async () => note("stopped"),
      };
    },
    clientEnvironment: (url) => ({ SHOP_URL: url }),
  });
}
