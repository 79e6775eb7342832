/** What holds for every page, and pictures of it for people. */
import path from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Pictures for people: of pages, and of tests that failed. Git ignores the folder. */
const PICTURES = path.resolve(".offhook/pictures");

/** Writes what a window shows, as a person would scroll through it. @param name of the file, without its ending */
export async function takePicture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: path.join(PICTURES, `${name}.png`), fullPage: true });
}

/** A finding of axe, as far as it is shown. */
interface Finding {
  id: string;
  help: string;
  nodes: { html: string; failureSummary?: string }[];
}

/**
 * What keeps people from using the page as it is now: findings of axe by WCAG 2.2 AA and its best practices, in words.
 * The rules are put into the page as by its developer tools, past its content security policy.
 */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const findings = await page.evaluate<Finding[]>("axe.run().then(({ violations }) => violations)");
  return findings.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${help}: ${html}\n${failureSummary}`),
  );
}

/** How far the page scrolls sideways, in CSS pixels: only frames within it may. */
function sidewaysScroll(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/** An event of Chromium's trace; times in microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Processor time of the thread, which other work of the machine does not lengthen. */
  tdur?: number;
  args?: { name?: string };
}

/**
 * The longest task that the page's own thread had while something was done: the time for which it answers nobody.
 * @returns its processor time in milliseconds
 */
export async function longestTask(page: Page, act: () => Promise<void>): Promise<number> {
  const browser = page.context().browser();
  if (!browser) throw new Error("the browser is closed");
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline", "__metadata"] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[];
  };
  const place = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const pages = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(place),
  );
  const tasks = traceEvents.filter((event) => event.name === "RunTask" && pages.has(place(event)));
  if (tasks.length === 0) throw new Error("the trace has no tasks of the page");
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}

/** Widths of windows in CSS pixels: a desk, a telephone, and the narrowest that has to do without scrolling sideways. */
const WIDE = 1400;
const NARROW = 400;
const NARROWEST = 360;

/**
 * Asserts that nothing keeps anybody from using the page as it is now, light or dark, wide or narrow, and takes pictures of it.
 * @param name of the pictures
 */
export async function expectUsable(page: Page, name: string): Promise<void> {
  for (const width of [WIDE, NARROW]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate("window.scrollTo(0, 0)");
      await takePicture(page, `${name}-${width}-${colorScheme}`);
      expect(await findBarriers(page), `${width} pixels, ${colorScheme}`).toEqual([]);
    }
  }
  await page.setViewportSize({ width: NARROWEST, height: 900 });
  expect(await sidewaysScroll(page)).toBe(0);
}
