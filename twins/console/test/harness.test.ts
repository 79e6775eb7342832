/** That the harness finds what it is there to find; each of these would otherwise pass unseen in every other test. */
import type { RunningTwins } from "@offhook/platform/server/start";
import { afterAll, beforeAll, expect, test as plain } from "vitest";
import { startWithConsole, test } from "../testing/browser.ts";
import { findChromium } from "../testing/chromium.ts";

let twins: RunningTwins;
beforeAll(async () => {
  twins = await startWithConsole();
});
afterAll(() => twins.stop());

/** What a page may do wrong, and how the harness words it. */
const wrongs: [what: string, script: string, problem: RegExp][] = [
  ["an uncaught error", "throw new Error('lost')", /^uncaught: Error: lost/],
  ["a rejection that nobody handles", "void Promise.reject(new Error('lost'))", /^uncaught: Error: lost/],
  ["an error in the console", "console.error('lost')", /^console\.error: lost/],
  ["a refused request", "void fetch('/c/dev/nobody/sim/state')", /^console\.error: .*404.*nobody/],
  ["a style in the markup", "document.body.setAttribute('style', 'color: red')", /Content Security Policy/],
  ["a request to elsewhere", "fetch('http://localhost/').catch(() => 0)", /Content Security Policy/],
  [
    "a way to elsewhere",
    "location.assign(location.href.replace('127.0.0.1', 'localhost'))",
    /^request to another origin: http:\/\/localhost/,
  ],
];

test.for(wrongs)("%s is a problem", async ([, script, problem], { visit }) => {
  const { page, problems, expectProblem } = await visit(twins, "/dev/calls");
  // Elsewhere is an empty page: a console there would ask for a session that it does not have, sooner or later.
  await page.route(/^http:\/\/localhost\b/, (route) => route.fulfill({ contentType: "text/html", body: "" }));
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(problems()).toEqual([]);
  await page.evaluate(`setTimeout(() => { ${script} })`);
  await expect.poll(problems).toContainEqual(expect.stringMatching(problem));
  expectProblem(problem);
});

test("a problem that was expected and does not happen is one", async ({ visit }) => {
  const { page, problems, expectProblem } = await visit(twins, "/dev/calls");
  expectProblem(/late/);
  expect(problems()).toEqual(["expected, and did not happen: /late/"]);
  await page.evaluate("console.error('late')");
  await expect.poll(problems).toEqual([]);
});

plain("a Chromium is taken from CHROMIUM_PATH, else from the PATH", () => {
  expect(findChromium({ CHROMIUM_PATH: process.execPath })).toBe(process.execPath);
  expect(() => findChromium({ CHROMIUM_PATH: "/nowhere/chromium" })).toThrow("/nowhere/chromium");
  expect(findChromium({ PATH: "/nowhere" })).toBeUndefined();
});
