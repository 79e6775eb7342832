/** The world: rows to look at and to change, with what the twin refuses beside the fields. */
import { readFile } from "node:fs/promises";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { startWithConsole, test } from "../testing/browser.ts";

let twins: RunningTwins;
beforeAll(async () => {
  twins = await startWithConsole();
});
beforeEach(() =>
  request("POST", `${twins.baseUrl}/sandboxes/dev/reset`, { headers: { "x-api-key": twins.apiKey } }),
);
afterAll(() => twins.stop());

/** A row of the shop, as the shop's own clients see it. */
async function thing(id: string) {
  const { status, body } = await request("GET", `${twins.baseUrl}/s/dev/shop/things/${id}`);
  return status === 200 ? body : undefined;
}

test("a row is found by a filter, changed, and refused beside the field that is wrong", async ({ visit }) => {
  const { page, expectProblem } = await visit(twins, "/dev/world/shop/things");
  await page.getByLabel("Rows whose").selectOption("id");
  await page.getByLabel("is", { exact: true }).fill("bell");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("link", { name: "lamp" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "bell" }).click();
  const dialog = page.getByRole("dialog", { name: "Row of things" });
  const price = dialog.getByLabel("price", { exact: false }).first();
  await price.fill("-5");
  expectProblem(/422.*sim\/data/);
  await dialog.getByRole("button", { name: "Save changes" }).click();
  await expect.poll(() => price.getAttribute("aria-invalid")).toBe("true");
  expect(await thing("bell")).toMatchObject({ price: 1 });
  await price.fill("250");
  await dialog.getByRole("button", { name: "Save changes" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await thing("bell")).toMatchObject({ price: 250 });
  expect(new URL(page.url()).searchParams.get("where.id")).toBe("bell");
});

test("a row is added and removed, and a text that is no number is refused before it is sent", async ({
  visit,
}) => {
  const { page } = await visit(twins, "/dev/world/shop/things");
  await page.getByRole("link", { name: "Add a row" }).click();
  const dialog = page.getByRole("dialog", { name: "New row of things" });
  await dialog.getByLabel("id text, required").fill("whistle");
  await dialog.getByLabel("price", { exact: false }).first().fill("cheap");
  await dialog.getByRole("button", { name: "Add the row" }).click();
  await dialog.getByText("must be a number").waitFor();
  await dialog.getByLabel("price", { exact: false }).first().fill("3");
  await dialog.getByRole("button", { name: "Add the row" }).click();
  await page.getByRole("link", { name: "whistle" }).click();
  expect(await thing("whistle")).toMatchObject({ price: 3 });
  await page.getByRole("button", { name: "Remove the row" }).click();
  await page
    .getByRole("dialog", { name: "Remove the row?" })
    .getByRole("button", { name: "Remove the row" })
    .click();
  await page.getByRole("link", { name: "whistle" }).waitFor({ state: "detached" });
  expect(await thing("whistle")).toBeUndefined();
});

test("what others change appears by itself, and the difference since the start tells it", async ({
  visit,
}) => {
  const { page } = await visit(twins, "/dev/world/shop/things");
  await page.getByRole("status").getByText("live").first().waitFor();
  const control = `${twins.baseUrl}/c/dev/shop/sim/data`;
  const headers = { "x-api-key": twins.apiKey };
  await request("POST", control, { headers, body: { data: { things: [{ id: "drum" }] } } });
  await page.getByRole("link", { name: "drum" }).waitFor();
  await page.getByRole("link", { name: "Difference since the start" }).click();
  const changed = page.getByRole("table").getByRole("row").filter({ hasText: "drum" });
  await expect.poll(() => changed.innerText()).toMatch(/things\s+drum\s+added[\s\S]*drum/);
});

test("a snapshot is saved, put back, and a reset asks first", async ({ visit }) => {
  const { page } = await visit(twins, "/dev/world/shop/things");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Snapshot of shop" }).click();
  const file = await (await download).path();
  const { tables } = JSON.parse(await readFile(file, "utf8"));
  expect(tables.things.map(({ id }: { id: string }) => id)).toEqual(["bell", "lamp"]);
  const control = `${twins.baseUrl}/c/dev/shop/sim/data?entity_type=things&id=lamp`;
  await request("DELETE", control, { headers: { "x-api-key": twins.apiKey } });
  await page.getByRole("link", { name: "lamp" }).waitFor({ state: "detached" });
  await page.getByLabel("A file for shop").setInputFiles(file);
  await page.getByRole("button", { name: "Put it back" }).click();
  await page.getByRole("link", { name: "lamp" }).waitFor();
  await request("DELETE", control, { headers: { "x-api-key": twins.apiKey } });
  await page.getByRole("link", { name: "lamp" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Reset all" }).click();
  expect(await thing("lamp")).toBeUndefined();
  await page.getByRole("dialog").getByRole("button", { name: "Reset all" }).click();
  await page.getByRole("link", { name: "lamp" }).waitFor();
});
