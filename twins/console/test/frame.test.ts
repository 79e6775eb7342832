/** The frame around every page: how one gets about in it, and what it looks like. */
import type { RunningTwins } from "@offhook/platform/server/start";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { type Page, startWithConsole, test } from "../testing/browser.ts";

let twins: RunningTwins;
beforeAll(async () => {
  twins = await startWithConsole();
});
afterAll(() => twins.stop());

test("who comes without a code is told how to get in, and gets in with the key", async ({ visit }) => {
  const { page, expectProblem } = await visit(twins, "/dev/talk", { as: "stranger" });
  expectProblem(/401.*console\/session/);
  await page.getByLabel("API key").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  expect(await page.getByRole("alert").innerText()).toContain("key");
  await page.getByLabel("API key").fill(twins.apiKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await heading(page, "Talk").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API key").waitFor();
});

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });
const pathOf = (page: Page) => new URL(page.url()).pathname;

test("the first page is the calls of the first sandbox, and the address says so once one moves", async ({
  visit,
}) => {
  const { page } = await visit(twins, "");
  await heading(page, "Calls").waitFor();
  expect(await page.getByLabel("Sandbox").inputValue()).toBe("dev");
  await page.getByRole("link", { name: "Talk" }).click();
  await heading(page, "Talk").waitFor();
  expect(pathOf(page)).toBe("/console/dev/talk");
  expect(await page.getByRole("link", { name: "Talk" }).getAttribute("aria-current")).toBe("page");
  await page.goBack();
  await heading(page, "Calls").waitFor();
});

describe("keys", () => {
  test("lead to every page", async ({ visit }) => {
    const { page } = await visit(twins, "/dev/calls");
    const pages = [
      ["g t", "Talk"],
      ["g j", "Journal"],
      ["g w", "World"],
      ["g f", "Faults and clock"],
      ["g d", "Datasets"],
      ["g c", "Calls"],
    ] as const;
    await heading(page, "Calls").waitFor();
    for (const [keys, title] of pages) {
      for (const key of keys.split(" ")) await page.keyboard.press(key);
      await heading(page, title).waitFor();
    }
  });

  test("Tab and Enter lead to a page, too", async ({ visit }) => {
    const { page } = await visit(twins, "/dev/calls");
    await page.getByLabel("Sandbox").focus();
    for (const _link of ["Calls", "Talk"]) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await heading(page, "Talk").waitFor();
  });

  test("? lists them, and Escape closes the list and leads back to where one was", async ({ visit }) => {
    const { page } = await visit(twins, "/dev/calls");
    const button = page.getByRole("button", { name: "Keys" });
    await button.focus();
    await page.keyboard.press("?");
    const list = page.getByRole("dialog", { name: "Keys" });
    await list.waitFor();
    expect(await list.getByRole("term").allInnerTexts()).toContain("g c");
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement?.textContent")).toContain("Keys");
  });
});

/** WCAG's relative luminance of a colour that Chromium computed: `rgb(251, 251, 250)`. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((text) => {
    const part = Number(text) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test.for(["light", "dark"] as const)("it is %s where the system is", async (colorScheme, { visit }) => {
  const { page } = await visit(twins, "/dev/calls", { colorScheme });
  await heading(page, "Calls").waitFor();
  const [ground, text] = await page.evaluate<[string, string]>(
    "(({ backgroundColor, color }) => [backgroundColor, color])(getComputedStyle(document.documentElement))",
  );
  expect(luminance(ground) > luminance(text)).toBe(colorScheme === "light");
});
