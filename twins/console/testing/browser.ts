/**
 * Tests of the console: real twins, a real Chromium. One browser a test process, a fresh context a test; a test fails on
 * whatever the page did wrong meanwhile.
 */
import engine from "@offhook/engine";
import type { RunningTwins, StartOptions } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { createShop } from "@offhook/platform/testing/shop-twin";
import { startEnvironment } from "@offhook/platform/testing/twins";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { test as base, expect } from "vitest";
import { findChromium, launchChromium } from "./chromium.ts";
import { takePicture } from "./page-checks.ts";
import { type Problems, watchForProblems } from "./problems.ts";

export type { Page } from "playwright-core";

/** A click or an assertion that takes longer has failed. */
const STEP_MS = 30_000;

interface VisitOptions {
  /** Size of the window in CSS pixels; default 1280 × 800. */
  viewport?: { width: number; height: number };
  /** What the system prefers; default light. */
  colorScheme?: "light" | "dark";
  /** Origins besides the twins' that the page may reach: `ws://127.0.0.1:8008`. */
  reaches?: readonly string[];
  /** Who comes: somebody with a code that lets him in (default), or without. */
  as?: "guest" | "stranger";
}

/** Twins with a console, of this process or another. */
type ConsoleAddress = Pick<RunningTwins, "baseUrl" | "apiKey">;

/** A window of the console. */
export interface Visit extends Problems {
  page: Page;
  context: BrowserContext;
  /** Goes to an address below `/console`, as somebody who follows a link: `/dev/calls`. */
  open(address: string): Promise<void>;
}

interface Fixtures {
  /** Opens a window on the console of running twins, at an address below `/console`. */
  visit(twins: ConsoleAddress, address: string, options?: VisitOptions): Promise<Visit>;
}

const executablePath = findChromium();

/** `test` with a window on the console; skipped where there is no Chromium. */
export const test = testInChromium();

/**
 * `test` in a Chromium that is started with further arguments, such as those of a microphone.
 * @param furtherArguments asked when the browser starts
 */
export function testInChromium(furtherArguments: () => readonly string[] = () => []) {
  return base
    .extend<Fixtures & { browser: Browser }>({
      browser: [
        // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that one needs from its pattern.
        async ({}, use) => {
          const browser = await launchChromium(furtherArguments());
          await use(browser);
          await browser.close();
        },
        { scope: "worker" },
      ],
      visit: async ({ browser, task }, use) => {
        const visits: Visit[] = [];
        await use(async (twins, address, options = {}) => {
          const context = await browser.newContext({
            baseURL: twins.baseUrl,
            colorScheme: options.colorScheme ?? "light",
            viewport: options.viewport ?? { width: 1280, height: 800 },
          });
          context.setDefaultTimeout(STEP_MS);
          const problems = watchForProblems(context, [twins.baseUrl, ...(options.reaches ?? [])]);
          const page = await context.newPage();
          const open = async (to: string) => void (await page.goto(`/console${to}`));
          const visit = { page, context, open, ...problems };
          visits.push(visit);
          await open(options.as === "stranger" ? address : await withCode(twins, address));
          return visit;
        });
        if (task.result?.state === "fail") await takePictures(task.name, visits);
        for (const { context } of visits) await context.close();
        expect(visits.flatMap(({ problems }) => problems())).toEqual([]);
      },
    })
    .skipIf(executablePath === undefined);
}

async function takePictures(name: string, visits: readonly { page: Page }[]): Promise<void> {
  const file = name.replace(/[^a-z0-9]+/gi, "-").slice(0, 80);
  for (const [index, { page }] of visits.entries()) {
    await takePicture(page, `failed/${file}-${index}`);
  }
}

/** An address of the console that lets a browser in, as the terminal prints them. */
async function withCode({ baseUrl, apiKey }: ConsoleAddress, address: string): Promise<string> {
  const { body } = await request("POST", `${baseUrl}/console/codes`, { headers: { "x-api-key": apiKey } });
  const url = new URL(`${baseUrl}/console${address}`);
  url.searchParams.set("code", body.code);
  return `${url.pathname.slice("/console".length)}${url.search}`;
}

const SHOP = `version: 1
services:
  - { name: shop, config: { stock: [bell, lamp] } }
`;

export type ConsoleTwinsOptions = Partial<Omit<StartOptions, "console" | "environmentFile">> & {
  /** Text of the environment file; default: a shop that sells a bell and a lamp. */
  environment?: string;
};

/** Starts twins with the console: by default the engine, and a small shop that has a little of everything. */
export function startWithConsole(options: ConsoleTwinsOptions = {}): Promise<RunningTwins> {
  const { environment = SHOP, twins = [engine, createShop()], ...others } = options;
  return startEnvironment(environment, { ...others, twins, console: () => import("../index.ts") });
}
