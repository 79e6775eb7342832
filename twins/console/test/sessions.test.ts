/** Who gets in, what he sees, and that nothing that lets somebody in stays where it could be read. */
import { keyEntry } from "@offhook/platform/http/api-keys";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, expect } from "vitest";
import { type Page, startWithConsole, test } from "../testing/browser.ts";

const KEYS = { acme: "key-of-acme-0123456789abcdef", globex: "key-of-globex-0123456789abcdef" };

let twins: RunningTwins;
beforeAll(async () => {
  const keys = Object.entries(KEYS).map(([organisation, key]) => keyEntry(organisation, key));
  twins = await startWithConsole({ apiKey: KEYS.acme, keys });
});
afterAll(() => twins.stop());

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });

async function post(path: string, key: string) {
  const headers = { "x-api-key": key };
  return (await request("POST", `${twins.baseUrl}${path}`, { headers, body: {} })).body;
}

test("an organisation chooses among its own sandboxes, and sees nothing of another's", async ({ visit }) => {
  const globex = { baseUrl: twins.baseUrl, apiKey: KEYS.globex };
  const { page: empty } = await visit(globex, "");
  await empty.getByText("Your organisation has no sandbox").waitFor();

  const { id: theirs } = await post("/sandboxes", KEYS.globex);
  const { id: ours } = await post("/sandboxes", KEYS.acme);
  const choices = (page: Page) => page.getByLabel("Sandbox").getByRole("option").allInnerTexts();
  const { page, open, expectProblem } = await visit(globex, "");
  await heading(page, "Calls").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/${theirs}/calls`);
  expect(await choices(page)).toEqual([theirs]);
  const { page: other } = await visit(twins, "/dev/journal");
  await expect.poll(() => choices(other)).toEqual(["dev", ours]);

  expectProblem(/404/);
  await open(`/${ours}/journal`);
  await page.getByRole("alert").first().waitFor();
  expect(await page.getByRole("table").count()).toBe(0);
});

test("a code lets one browser in, once", async ({ visit }) => {
  const { code } = await post("/console/codes", KEYS.acme);
  const { page } = await visit(twins, `/dev/talk?code=${code}`, { as: "stranger" });
  await heading(page, "Talk").waitFor();
  expect(page.url()).toBe(`${twins.baseUrl}/console/dev/talk`);

  const { page: late, expectProblem } = await visit(twins, `/dev/talk?code=${code}`, { as: "stranger" });
  expectProblem(/401.*console\/session/);
  await late.getByLabel("API key").fill(KEYS.acme);
  expect(late.url()).toBe(`${twins.baseUrl}/console/dev/talk`);
  await late.getByRole("button", { name: "Sign in" }).click();
  await heading(late, "Talk").waitFor();
});

test("whoever signs out is out, in every window of the browser, and the button back shows nothing", async ({
  visit,
}) => {
  const { page, context, expectProblem } = await visit(twins, "/dev/journal");
  await heading(page, "Journal").waitFor();
  const second = await context.newPage();
  await second.goto("/console/dev/world/shop/things");
  await second.getByText("bell").first().waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API key").waitFor();
  expect(await context.cookies()).toEqual([]);
  expectProblem(/401/);
  await second.getByRole("link", { name: "Datasets" }).click();
  await second.getByLabel("API key").waitFor();
  await second.goto("/console");
  await second.getByLabel("API key").waitFor();
  await second.goBack();
  await second.getByLabel("API key").waitFor();
  expect(await second.getByText("bell").count()).toBe(0);
});

test("no page, storage or address holds a key, a code or the cookie", async ({ visit }) => {
  const { code } = await post("/console/codes", KEYS.acme);
  const { page: byCode, context } = await visit(twins, `/dev/calls?code=${code}`, { as: "stranger" });
  const { page: byKey, context: other, expectProblem } = await visit(twins, "/dev/calls", { as: "stranger" });
  expectProblem(/401.*console\/session/);
  await byKey.getByLabel("API key").fill(KEYS.acme);
  await byKey.getByRole("button", { name: "Sign in" }).click();
  await heading(byKey, "Calls").waitFor();
  const cookies = [...(await context.cookies()), ...(await other.cookies())];
  expect(cookies.every(({ httpOnly, sameSite }) => httpOnly && sameSite === "Strict")).toBe(true);
  const secrets = [KEYS.acme, code, ...cookies.map(({ value }) => value)];
  expect(secrets.every((secret) => secret.length > 20)).toBe(true);
  for (const page of [byCode, byKey]) {
    for (const name of ["Calls", "Talk", "Journal", "World", "Faults and clock", "Datasets"]) {
      await page.getByRole("link", { name }).click();
      await heading(page, name).waitFor();
      await page.waitForLoadState("networkidle");
      const readable = await page.evaluate<string>(`JSON.stringify([
        document.documentElement.outerHTML, location.href, document.referrer, document.cookie, history.state,
        [...document.querySelectorAll("input, textarea")].map(({ value }) => value),
        { ...localStorage }, { ...sessionStorage },
      ])`);
      expect(secrets.filter((secret) => readable.includes(secret))).toEqual([]);
    }
  }
});
