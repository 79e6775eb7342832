/**
 * Every page of the console with what a day of work leaves in it: nothing keeps anybody from using it, nothing scrolls
 * sideways. Pictures of each are in `.offhook/pictures`.
 */
import { type Page, test } from "@offhook/console/testing/browser";
import { findBarriers, sidewaysScroll, takePicture } from "@offhook/console/testing/page-checks";
import { beforeAll, describe, expect } from "vitest";
import { replay, stage } from "../support/replay.ts";

beforeAll(async () => {
  const { voiceUrl } = await stage();
  await replay("open-incident", { url: voiceUrl });
});

interface PageUnderTest {
  name: string;
  /** Below `/console`. */
  address: string;
  /** Resolves when the page shows its data. */
  ready(page: Page): Promise<void>;
}

const heading = (name: string) => (page: Page) =>
  page.getByRole("heading", { level: 1, name, exact: true }).waitFor();

const pages: PageUnderTest[] = [
  { name: "calls", address: "/dev/calls", ready: heading("Calls") },
  { name: "talk", address: "/dev/talk", ready: heading("Talk") },
  { name: "world", address: "/dev/world", ready: heading("World") },
  { name: "faults", address: "/dev/faults", ready: heading("Faults and clock") },
];

const widths = [400, 1400];
const schemes = ["light", "dark"] as const;

describe.each(pages)("$name", ({ name, address, ready }) => {
  test("nothing keeps anybody from using it, light or dark, narrow or wide", async ({ visit }) => {
    const { twins } = (await stage()).house;
    const { page } = await visit(twins, address);
    await ready(page);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme });
        await takePicture(page, `${name}-${width}-${colorScheme}`);
        expect(await findBarriers(page), `${width} pixels, ${colorScheme}`).toEqual([]);
      }
    }
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await sidewaysScroll(page)).toBe(0);
  });
});
