/** With much in the journal and in a world, the page stays quick: no task of its thread keeps anybody waiting. */
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { addressesOf } from "@offhook/platform/testing/twins";
import { afterAll, beforeAll, expect } from "vitest";
import { startWithConsole, test } from "../testing/browser.ts";
import { longestTask } from "../testing/page-checks.ts";

const ENTRIES = 10_000;
const AT_A_TIME = 20;
/** A person feels more than this. */
const LIMIT_MS = 100;

let twins: RunningTwins;
beforeAll(async () => {
  twins = await startWithConsole();
  const shop = addressesOf(twins, "shop");
  const things = Array.from({ length: ENTRIES }, (_, at) => ({ id: `thing-${at}`, price: at }));
  const added = await request("POST", `${shop.control_url}/sim/data`, {
    headers: { "x-api-key": twins.apiKey, "content-type": "application/json" },
    body: { data: { things } },
  });
  expect(added.status).toBe(201);
  const ask = async (worker: number) => {
    for (let at = worker; at < ENTRIES; at += AT_A_TIME)
      await request("GET", `${shop.url}/things/thing-${at}`);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, (_, worker) => ask(worker)));
});
afterAll(() => twins.stop());

test.for([
  ["the journal", "/dev/journal", "/things/thing-"],
  ["a world", "/dev/world/shop/things", "thing-"],
  ["what has changed", "/dev/world/shop/difference", "thing-"],
] as const)(`%s of ${ENTRIES} entries`, async ([, address, text], { visit }) => {
  const { page, open } = await visit(twins, "/dev/calls");
  const longestMs = await longestTask(page, async () => {
    await open(address);
    await page.getByRole("row").filter({ hasText: text }).first().waitFor();
  });
  expect(await page.getByRole("row").count()).toBeLessThanOrEqual(201);
  expect(longestMs).toBeGreaterThan(0);
  expect(longestMs).toBeLessThan(LIMIT_MS);
});

test("what happens meanwhile: a burst of requests goes into the journal that is shown", async ({ visit }) => {
  const { page } = await visit(twins, "/dev/journal");
  const rows = page.getByRole("row").filter({ hasText: "/things/" });
  await rows.first().waitFor();
  const { url } = addressesOf(twins, "shop");
  const longestMs = await longestTask(page, async () => {
    const burst = Array.from({ length: 200 }, (_, at) => request("GET", `${url}/things/burst-${at}`));
    await Promise.all(burst);
    await rows.filter({ hasText: "/things/burst-" }).first().waitFor();
  });
  expect(longestMs).toBeLessThan(LIMIT_MS);
});

test("the measure sees a task that keeps the page from answering", async ({ visit }) => {
  const { page } = await visit(twins, "/dev/calls");
  // So much work takes any processor longer than that.
  const block =
    "void setTimeout(() => { let sum = 1; for (let at = 0; at < 1e9; at++) sum += at; window.done = sum })";
  const longestMs = await longestTask(page, async () => {
    await page.evaluate(block);
    await page.waitForFunction("window.done");
  });
  expect(longestMs).toBeGreaterThan(LIMIT_MS);
});
