/**
 * What a page of another origin can do with the session of the browser that it runs in. Another port of 127.0.0.1 is of the
 * same site, so its requests carry the session's cookie although that is `SameSite=Strict`.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { type Page, startWithConsole, test, type Visit } from "../testing/browser.ts";

let twins: RunningTwins;
let elsewhere: Server;
beforeAll(async () => {
  twins = await startWithConsole();
  elsewhere = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end("<!doctype html><title>elsewhere</title>");
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, () => resolve()));
});
afterAll(async () => {
  elsewhere.closeAllConnections();
  elsewhere.close();
  await twins.stop();
});

/** What a session reads. */
const READS = [
  "/console/session",
  "/sandboxes",
  "/sandboxes/dev/requests",
  "/environments",
  "/c/dev/shop/sim/data?entity_type=things",
  "/c/dev/shop/sim/requests",
];
const STREAMS = ["/sandboxes/dev/watch", "/c/dev/shop/sim/watch"];
/** What a session changes, as a form or a request that needs no preflight can ask for it. */
const CHANGES = [
  "/console/session",
  "/sandboxes",
  "/sandboxes/dev/reset",
  "/c/dev/shop/sim/reset",
  "/c/dev/shop/sim/stock/stolen",
];

/** What the tester has: none of it may change. */
async function snapshot(): Promise<unknown> {
  const headers = { "x-api-key": twins.apiKey };
  const read = async (path: string) => (await request("GET", `${twins.baseUrl}${path}`, { headers })).body;
  const { sandboxes } = await read("/sandboxes");
  return {
    sandboxes: sandboxes.map(({ id }: { id: string }) => id),
    shop: await read("/c/dev/shop/sim/data?entity_type=things"),
  };
}

const fetches = (init: string) => `(async ([base, paths]) => Promise.all(paths.map(async (path) => {
  try {
    const response = await fetch(base + path, { credentials: "include", ...${init} });
    return response.type === "opaque" ? "opaque" : response.ok ? "read" : "refused";
  } catch { return "refused"; }
})))`;

const LISTENS = `(async ([base, paths]) => Promise.all(paths.map((path) => new Promise((resolve) => {
  const stream = new EventSource(base + path, { withCredentials: true });
  const end = (result) => { stream.close(); resolve(result); };
  stream.addEventListener("ready", () => end("read"));
  stream.onerror = () => end("refused");
}))))`;

function run(page: Page, script: string, paths: readonly string[]): Promise<string[]> {
  return page.evaluate(`${script}(${JSON.stringify([twins.baseUrl, paths])})`);
}

const all = (paths: readonly string[], result: string) => paths.map(() => result);

/** Opens a page elsewhere in a browser that has a session. */
async function openElsewhere(visit: Visit, origin: string): Promise<Page> {
  await visit.page.getByRole("heading", { level: 1 }).waitFor();
  const page = await visit.context.newPage();
  await page.goto(origin);
  return page;
}

test("the same requests of the console's own page are answered", async ({ visit }) => {
  const { page } = await visit(twins, "/dev/journal");
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await run(page, fetches("{}"), READS)).toEqual(all(READS, "read"));
  expect(await run(page, LISTENS, STREAMS)).toEqual(all(STREAMS, "read"));
  const before = await snapshot();
  expect(before).toMatchObject({ sandboxes: ["dev"], shop: { total: 2 } });
  await run(page, fetches('{ method: "POST" }'), ["/c/dev/shop/sim/stock/whistle"]);
  expect(await snapshot()).not.toEqual(before);
});

describe.each(["127.0.0.1", "localhost"])("a page of another port of %s", (host) => {
  const origin = () => `http://${host}:${(elsewhere.address() as AddressInfo).port}`;
  const visitBoth = async (visit: (...of: [RunningTwins, string, object]) => Promise<Visit>) => {
    const before = await snapshot();
    const visited = await visit(twins, "/dev/journal", { reaches: [origin()] });
    return { ...visited, before, stranger: await openElsewhere(visited, origin()) };
  };
  /** The tester goes on as before. */
  const expectUntouched = async (page: Page, before: unknown) => {
    expect(await snapshot()).toEqual(before);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Journal" }).waitFor();
  };

  test("reads nothing: no answer, no stream", async ({ visit }) => {
    const { page, stranger, before, expectProblem } = await visitBoth(visit);
    expectProblem(/CORS policy|Failed to load resource|status of 40[13]/);
    expect(await run(stranger, fetches("{}"), READS)).toEqual(all(READS, "refused"));
    expect(await run(stranger, LISTENS, STREAMS)).toEqual(all(STREAMS, "refused"));
    // Not even unread, as a picture or a script.
    expect(await run(stranger, fetches('{ mode: "no-cors" }'), ["/console"])).toEqual(["refused"]);
    await expectUntouched(page, before);
  });

  test("changes nothing, by script or by form", async ({ visit }) => {
    const { page, context, stranger, before, expectProblem } = await visitBoth(visit);
    expectProblem(/CORS policy|Failed to load resource|status of 40[13]/);
    await run(stranger, fetches('{ mode: "no-cors", method: "POST", body: "{}" }'), CHANGES);
    await run(stranger, fetches('{ method: "DELETE" }'), ["/console/session", "/sandboxes/dev"]);
    for (const path of CHANGES) {
      const opened = context.waitForEvent("page");
      await stranger.evaluate(`(() => {
        const form = document.createElement("form");
        form.method = "POST";
        form.enctype = "text/plain";
        form.action = ${JSON.stringify(twins.baseUrl + path)};
        form.target = "_blank";
        document.body.append(form);
        form.submit();
      })()`);
      const answer = await opened;
      await expect.poll(() => answer.locator("body").innerText()).toMatch(/unauthorized|forbidden/);
      await answer.close();
    }
    await expectUntouched(page, before);
  });

  test("frames nothing, and has no hand on a window that it opens", async ({ visit }) => {
    const { page, context, stranger, before, expectProblem } = await visitBoth(visit);
    expectProblem(/Refused to display|frame|status of 40[13]/);
    for (const path of [
      "/console",
      "/console/dev/calls",
      "/sandboxes",
      "/c/dev/shop/sim/data?entity_type=things",
    ]) {
      const url = twins.baseUrl + path;
      await stranger.evaluate(`new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.onload = resolve;
        frame.src = ${JSON.stringify(url)};
        document.body.replaceChildren(frame);
      })`);
      const shown = await stranger.frameLocator("iframe").locator("body").innerText();
      if (path.startsWith("/console"))
        expect(stranger.frames().map((frame) => frame.url())).not.toContain(url);
      else expect(shown).toContain("unauthorized");
      expect(await stranger.evaluate("document.querySelector('iframe').contentDocument")).toBeNull();
    }
    const opened = context.waitForEvent("page");
    await stranger.evaluate(
      `void (window.opened = window.open(${JSON.stringify(`${twins.baseUrl}/console/dev/talk`)}))`,
    );
    const own = await opened;
    await own.getByRole("heading", { level: 1, name: "Talk" }).waitFor();
    expect(await own.evaluate("window.opener")).toBeNull();
    await expect.poll(() => stranger.evaluate("window.opened.closed")).toBe(true);
    await expectUntouched(page, before);
  });
});
