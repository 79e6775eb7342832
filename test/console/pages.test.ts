/**
 * Every page of the console with what a call and a fault leave in it: nothing keeps anybody from using it, nothing scrolls
 * sideways. Pictures of each are in `.offhook/pictures`.
 */
import { type Page, test } from "@offhook/console/testing/browser";
import { expectUsable } from "@offhook/console/testing/page-checks";
import { request } from "@offhook/platform/testing/http";
import { beforeAll, expect } from "vitest";
import { replay, stage } from "../support/replay.ts";

/** What the addresses of pages name. */
let found: { call: string; entry: string };

beforeAll(async () => {
  const { voiceUrl } = await stage();
  await replay("open-incident", { url: voiceUrl });
  const { body: read } = await control("GET", "/c/dev/vapi/sim/calls");
  const [call] = read.calls;
  const { body: merged } = await control("GET", "/sandboxes/dev/requests?twin=postgres&order=newest");
  const [{ twin, seq }] = merged.requests;
  found = { call: call.id, entry: `${twin}:${seq}` };
  const { body: listed } = await control("GET", "/c/dev/elasticsearch/sim/faults/templates");
  const [template] = listed.templates;
  expect((await control("POST", "/c/dev/elasticsearch/sim/faults", template.fault)).status).toBe(201);
});

async function control(method: string, path: string, body?: unknown) {
  const { baseUrl, apiKey } = (await stage()).house.twins;
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  return request(method, `${baseUrl}${path}`, { headers, body });
}

interface PageUnderTest {
  name: string;
  /** Below `/console`. */
  address(): string;
  /** Resolves when the page shows its data. */
  ready(page: Page): Promise<void>;
}

const cell = (page: Page, name: string | RegExp) => page.getByRole("cell", { name }).first().waitFor();
const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name }).first().waitFor();

const pages: PageUnderTest[] = [
  {
    name: "calls",
    address: () => "/dev/calls",
    ready: (page) => page.getByRole("link", { name: "open-incident" }).waitFor(),
  },
  {
    name: "call",
    address: () => `/dev/calls/${found.call}`,
    ready: (page) => page.getByText("open_incident").first().waitFor(),
  },
  { name: "talk", address: () => "/dev/talk", ready: (page) => heading(page, "Talk") },
  { name: "journal", address: () => "/dev/journal", ready: (page) => cell(page, "postgres") },
  {
    name: "journal-entry",
    address: () => `/dev/journal?entry=${encodeURIComponent(found.entry)}`,
    ready: (page) => cell(page, "postgres"),
  },
  {
    name: "world",
    address: () => "/dev/world/postgres/incidents",
    ready: (page) => cell(page, /^INC-/),
  },
  {
    name: "difference",
    address: () => "/dev/world/postgres/difference",
    ready: (page) => cell(page, /INC-/),
  },
  { name: "faults", address: () => "/dev/faults/elasticsearch", ready: (page) => cell(page, /armed/) },
  { name: "datasets", address: () => "/dev/datasets", ready: (page) => cell(page, /./) },
];

test.for(pages)("$name can be used by everybody, light or dark, narrow or wide", async (it, { visit }) => {
  const { twins } = (await stage()).house;
  const { page } = await visit(twins, it.address());
  await it.ready(page);
  await expectUsable(page, it.name);
});

test("so can the way in", async ({ visit }) => {
  const { twins } = (await stage()).house;
  const { page, expectProblem } = await visit(twins, "/dev/calls", { as: "stranger" });
  expectProblem(/401.*session/);
  await page.getByLabel("API key").waitFor();
  await expectUsable(page, "sign-in");
});

test("and the list of keys", async ({ visit }) => {
  const { twins } = (await stage()).house;
  const { page } = await visit(twins, "/dev/journal");
  await page.getByRole("button", { name: "Keys" }).click();
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await expectUsable(page, "keys");
});
