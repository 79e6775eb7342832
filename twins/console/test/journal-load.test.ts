/** Ten thousand requests in the journal, and more while one looks: the page stays fluent, and no larger than one page of rows. */
import type { RunningTwins } from "@offhook/platform/server/start";
import { createShop } from "@offhook/platform/testing/shop-twin";
import { afterAll, beforeAll, expect } from "vitest";
import { type Page, startWithConsole, test } from "../testing/browser.ts";
import { longestTask } from "../testing/page-checks.ts";

const SHOPS = ["north", "south", "east", "west", "centre"];
/** All that a journal keeps. */
const KEPT = 2_000;
/** A page blocked for longer seems stuck. */
const MAX_TASK_MS = 100;
const MAX_ELEMENTS = 2_500;
const LIVE = { perSecond: 200, seconds: 4 };
const CLIENTS = 20;

let twins: RunningTwins;
beforeAll(async () => {
  const services = SHOPS.map((name) => `  - { name: ${name} }\n`).join("");
  twins = await startWithConsole({
    environment: `version: 1\nservices:\n${services}`,
    twins: SHOPS.map((name) => ({ ...createShop(), name })),
  });
  const paths = SHOPS.flatMap((name) =>
    Array.from({ length: KEPT }, (_each, index) => `/s/dev/${name}/things/${name}-${index}`),
  );
  await Promise.all(Array.from({ length: CLIENTS }, (_client, first) => askEvery(paths, first)));
});
afterAll(() => twins.stop());

async function ask(path: string): Promise<void> {
  await (await fetch(twins.baseUrl + path)).arrayBuffer();
}

async function askEvery(paths: readonly string[], first: number): Promise<void> {
  for (let index = first; index < paths.length; index += CLIENTS) await ask(paths[index] ?? "");
}

/** Asks at a steady rate. @returns the last path */
async function askSteadily(): Promise<string> {
  const total = LIVE.perSecond * LIVE.seconds;
  const startedAt = performance.now();
  const pathOf = (index: number) => `/s/dev/${SHOPS[index % SHOPS.length]}/things/live-${index}`;
  await new Promise<void>((resolve, reject) => {
    let sent = 0;
    const answers: Promise<void>[] = [];
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - startedAt) * LIVE.perSecond) / 1000);
      for (; sent < due; sent++) answers.push(ask(pathOf(sent)));
      if (sent < total) return;
      clearInterval(timer);
      Promise.all(answers).then(() => resolve(), reject);
    }, 20);
  });
  return pathOf(total - 1);
}

const elements = (page: Page) => page.evaluate<number>("document.querySelectorAll('*').length");

test("opening, filtering, paging, scrolling and a live tail block the page for at most 100 ms", async ({
  visit,
}) => {
  const { page } = await visit(twins, "/dev/calls");
  await page.getByRole("heading", { level: 1 }).waitFor();
  const sizes: number[] = [];
  const shows = async (text: string) => {
    await page.getByText(text).first().waitFor();
    sizes.push(await elements(page));
  };
  const next = page.getByRole("button", { name: "Next" });
  const longestMs = await longestTask(page, async () => {
    await page.getByRole("link", { name: "Journal" }).click();
    await shows("1–100 of 10000");
    for (const start of [101, 201, 301]) {
      await next.click();
      await shows(`${start}–${start + 99} of 10000`);
    }
    await page.mouse.move(700, 500);
    for (let turn = 0; turn < 10; turn++) await page.mouse.wheel(0, 400);
    await page.getByLabel("Text in path or body").fill("south-19");
    await page.keyboard.press("Enter");
    await shows("1–100 of 111");
    await page.getByLabel("Twin").selectOption("north");
    await shows("No request matches the filters.");
    await page.getByRole("button", { name: "Remove filters" }).click();
    await page.getByLabel("Status").selectOption("4xx");
    await shows("1–100 of 10000");
    await page.getByRole("button", { name: "Remove filters" }).click();
    const last = await askSteadily();
    await shows(last.replace(/^\/s\/dev\/\w+/, ""));
  });
  expect(longestMs).toBeGreaterThan(0);
  expect(longestMs).toBeLessThan(MAX_TASK_MS);
  expect(Math.max(...sizes)).toBeLessThan(MAX_ELEMENTS);
});
