/** Faults and clock: armed from the twin's own list, seen to hit, removed; the sandbox's time. */
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, expect } from "vitest";
import { startWithConsole, test } from "../testing/browser.ts";

let twins: RunningTwins;
beforeAll(async () => {
  twins = await startWithConsole();
});
afterAll(() => twins.stop());

const list = () => request("GET", `${twins.baseUrl}/s/dev/shop/things`);

test("a template is armed, its hits are counted as they happen and lead to the journal", async ({
  visit,
}) => {
  const { page } = await visit(twins, "/dev/faults/shop");
  const body = page.getByLabel("The fault, as JSON");
  await expect.poll(() => body.inputValue()).toContain("effect");
  await body.fill('{"operation": "thing.list", "effect": "status", "status": 503, "times": 2}');
  await page.getByRole("button", { name: "Arm" }).click();
  const row = page.getByRole("table").getByRole("row").nth(1);
  await expect
    .poll(() => row.innerText())
    .toMatch(/shop\s+fault-\d+\s+status\s+thing.list\s+times 2, status 503\s+armed\s+0\s+0\s+2/);
  expect((await list()).status).toBe(503);
  await expect.poll(() => row.innerText()).toMatch(/armed\s+1\s+1\s+1/);
  await row.getByRole("link", { name: "1" }).click();
  await page.getByRole("link", { name: "thing.list" }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: /^Remove fault/ }).click();
  await page.getByText("No fault is armed in this sandbox.").waitFor();
  expect((await list()).status).toBe(200);
});

test("a fault that the twin does not have is refused, and nothing is armed", async ({ visit }) => {
  const { page, expectProblem } = await visit(twins, "/dev/faults/shop");
  await page.getByLabel("The fault, as JSON").fill('{"all": true, "effect": "status", "status": 299}');
  expectProblem(/422.*sim\/faults/);
  await page.getByRole("button", { name: "Arm" }).click();
  await page.getByRole("alert").getByText("no fault was armed").waitFor();
  await page.getByText("No fault is armed in this sandbox.").waitFor();
  await page.getByLabel("The fault, as JSON").fill("{");
  await page.getByRole("button", { name: "Arm" }).click();
  await page.getByRole("alert").getByText("This is not JSON").waitFor();
});

test("the clock is frozen, set, sped up and returned to live time", async ({ visit }) => {
  const { page } = await visit(twins, "/dev/faults");
  const clock = page.getByRole("region", { name: "Clock of the sandbox" });
  await clock.getByRole("button", { name: "Freeze" }).click();
  await clock.getByText("frozen").waitFor();
  await clock.getByLabel("Time (UTC)").fill("2026-03-29T01:59:30");
  await clock.getByLabel("Speed, times real time").fill("60");
  await clock.getByRole("button", { name: "Set the clock" }).click();
  await clock.getByText("60 times as fast").waitFor();
  expect(await clock.innerText()).toMatch(/2026-03-29 0[12]:/);
  await clock.getByRole("button", { name: "Return to live time" }).click();
  await clock.getByText("real time", { exact: true }).waitFor();
});
