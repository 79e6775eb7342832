/** A machine without room: what the control plane cannot do is a 503 that says what to do, and works once there is room. */
import path from "node:path";
import { gzipSync } from "node:zlib";
import { type SearchSandbox, startSearch } from "@offhook/elasticsearch/testing/search";
import { OutOfMemory, QueryInterrupted, QueueFull } from "@offhook/log-store/store/log-store";
import { answeringWorldErrors } from "@offhook/platform/http/errors";
import { operation, type VendorRequest } from "@offhook/platform/http/operation";
import { request } from "@offhook/platform/testing/http";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";

/** More than waits in memory. */
const LARGE = "x".repeat(1.5 * 2 ** 20);

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch();
});
afterAll(() => sandbox.stop());
afterEach(() => vi.unstubAllEnvs());

const body = JSON.stringify({ data: { events: [{ _id: "one", text: LARGE }] } });
const reset = (sent: string | Buffer, encoding: Record<string, string> = {}) =>
  request("POST", `${sandbox.twins.baseUrl}/c/dev/elasticsearch/sim/reset`, {
    headers: { "x-api-key": sandbox.twins.apiKey, "content-type": "application/json", ...encoding },
    body: sent,
  });
const resetSandbox = () =>
  request("POST", `${sandbox.twins.baseUrl}/sandboxes/dev/reset`, {
    headers: { "x-api-key": sandbox.twins.apiKey },
  });

/** As on a full disk: no file can be made where temporary files belong. */
function takeTemporaryFolder(): void {
  vi.stubEnv("TMPDIR", path.join(import.meta.dirname, "no-such-folder"));
}

const refused = {
  status: 503,
  body: {
    error: {
      code: "unavailable",
      message: expect.stringMatching(/temporary folder, which cannot be written to.*make room on its disk/),
    },
  },
};

test("a reset whose body cannot be kept on disk is a 503, compressed or not, and changes nothing", async () => {
  expect((await sandbox.control("POST", "/data", { data: { events: [{ _id: "kept" }] } })).status).toBe(201);
  takeTemporaryFolder();
  expect(await reset(body)).toMatchObject(refused);
  expect(await reset(gzipSync(body), { "content-encoding": "gzip" })).toMatchObject(refused);
  const { body: counts } = await sandbox.control("GET", "/data");
  expect(counts.counts.events).toBe(1);
  const journal = await sandbox.control("GET", "/requests?tier=control&status=503");
  expect(journal.body.requests.map(({ operation: id }: { operation: string }) => id)).toEqual([
    "reset",
    "reset",
  ]);
  vi.unstubAllEnvs();
  expect((await reset(body)).status).toBe(200);
});

test("a snapshot is a 503 without room on disk; the reset of a sandbox with logs needs none", async () => {
  expect((await reset(body)).status).toBe(200);
  takeTemporaryFolder();
  expect(await sandbox.control("POST", "/snapshot")).toMatchObject(refused);
  vi.unstubAllEnvs();
  expect((await sandbox.control("POST", "/snapshot")).body.tables.events).toHaveLength(1);
  takeTemporaryFolder();
  expect((await resetSandbox()).status).toBe(200);
});

test.each([new OutOfMemory(1000), new QueueFull(7), new QueryInterrupted("deadline", 30_000)])(
  "what a store has no memory, place or time for is a 503: %s",
  async (error) => {
    const { handle } = answeringWorldErrors(
      operation<undefined>({
        id: "data.read",
        method: "GET",
        path: "/sim/data",
        surface: "rest",
        summary: "Reads.",
        handle: () => Promise.reject(error),
      }),
    );
    // The operation fails before it looks at its request.
    expect(await handle({} as VendorRequest, undefined)).toMatchObject({
      status: 503,
      body: { error: { code: "unavailable", message: error.message } },
    });
  },
);
