/** The journal: one table over all twins, with filters that a link carries. */
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, expect } from "vitest";
import { type Page, startWithConsole, test } from "../testing/browser.ts";

let twins: RunningTwins;
beforeAll(async () => {
  twins = await startWithConsole();
});
afterAll(() => twins.stop());

const shopUrl = () => `${twins.baseUrl}/s/dev/shop`;
const rows = (page: Page) => page.getByRole("table").getByRole("row");

test("a link with filters shows what they find, and nothing else", async ({ visit }) => {
  await request("GET", `${shopUrl()}/things/bell`);
  await request("GET", `${shopUrl()}/things/nowhere`);
  await request("POST", `${twins.baseUrl}/s/dev/engine/simulations`, { body: {} });
  const { page } = await visit(twins, "/dev/journal?twin=shop&status=404");
  await page.getByRole("link", { name: "thing.get" }).waitFor();
  expect(await rows(page).count()).toBe(2);
  expect(await rows(page).nth(1).innerText()).toContain("/things/nowhere");
  await page.getByRole("button", { name: "Remove filters" }).click();
  await page.getByRole("link", { name: "simulation.create" }).waitFor();
  expect(new URL(page.url()).search).toBe("");
});

test("what is asked while somebody looks appears by itself", async ({ visit }) => {
  const { page } = await visit(twins, "/dev/journal?twin=shop&text=live-one");
  await page.getByText("No request matches the filters.").waitFor();
  await page.getByRole("status").getByText("live").first().waitFor();
  await request("GET", `${shopUrl()}/things/live-one`);
  await page.getByText("/things/live-one").waitFor();
});

test("a request opens whole, by its address, and is copied as a command that sends it again", async ({
  visit,
}) => {
  const body = { say: "it's a bell" };
  await request("POST", `${shopUrl()}/echo?loud=yes`, {
    body,
    headers: { authorization: "Bearer very-secret" },
  });
  const { page, context } = await visit(twins, "/dev/journal?operation=echo");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("link", { name: "echo" }).click();
  const panel = page.getByRole("region", { name: "The request" });
  await panel.getByText("it's a bell").first().waitFor();
  expect(await panel.innerText()).not.toContain("very-secret");
  await panel.getByRole("button", { name: "Copy as curl" }).click();
  await panel.getByRole("button", { name: "Copied" }).waitFor();
  const command = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(command).toContain(`curl -X POST '${shopUrl()}/echo?loud=yes'`);
  expect(command).toContain(`--data-raw '{"say":"it'\\''s a bell"}'`);
  expect(command).toContain('-H "authorization: $SECRET"');
  expect(new URL(page.url()).searchParams.get("entry")).toMatch(/^shop:\d+$/);
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
});

test("keys move through the requests", async ({ visit }) => {
  await request("GET", `${shopUrl()}/things/first`);
  await request("GET", `${shopUrl()}/things/second`);
  const { page } = await visit(twins, "/dev/journal?operation=thing.get");
  await page.getByRole("link", { name: "thing.get" }).first().waitFor();
  const panel = page.getByRole("region", { name: "The request" });
  await page.keyboard.press("j");
  await panel.getByText("/things/second").first().waitFor();
  await page.keyboard.press("j");
  await panel.getByText("/things/first").first().waitFor();
});
