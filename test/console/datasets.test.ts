/** Datasets: a file is chosen, uploaded with progress, refused with the text it is about, replaced after a yes. */
import { type Page, test } from "@offhook/console/testing/browser";
import elasticsearch from "@offhook/elasticsearch";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { startEnvironment } from "@offhook/platform/testing/twins";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { consoles, registry } from "../../twins/registry.ts";

let twins: RunningTwins;
beforeAll(async () => {
  const [console] = consoles;
  if (!console) throw new Error("there is no console");
  const environment = `version: 1\nservices: [{ name: ${elasticsearch.name} }]\n`;
  twins = await startEnvironment(environment, { twins: registry, console });
});
afterAll(() => twins.stop());

const dataset = () => `${twins.baseUrl}/environments/dev/datasets/elasticsearch`;
beforeEach(() => request("DELETE", dataset(), { headers: { "x-api-key": twins.apiKey } }));

/** What the twin's own client finds. */
async function count(): Promise<number> {
  const { body } = await request("GET", `${twins.baseUrl}/s/dev/elasticsearch/_count`);
  return body.count;
}

const CSV = `@timestamp,service,level,took_ms
2026-03-02T09:30:00Z,checkout,error,812
2026-03-02T09:31:00Z,search,info,14
2026-03-02T09:32:00Z,checkout,info,9
`;
const NDJSON = CSV.trim()
  .split("\n")
  .slice(1)
  .map((line) => line.split(","))
  .map(([at, service]) => JSON.stringify({ "@timestamp": at, service, tags: ["a", "b"] }))
  .join("\n");

async function choose(page: Page, name: string, text: string): Promise<void> {
  const file = { name, mimeType: "application/octet-stream", buffer: Buffer.from(text) };
  await page.getByLabel(/choose one/).setInputFiles(file);
}

const upload = (page: Page) => page.getByRole("button", { name: "Upload" }).click();

test("CSV: its rows, columns, types, time and first rows are shown, and the twin has them", async ({
  visit,
}) => {
  const { page } = await visit(twins, "/dev/datasets");
  await page.getByText("elasticsearch has no dataset in environment dev").waitFor();
  await choose(page, "day.csv", CSV);
  expect(await page.getByRole("radio", { name: "CSV", exact: true }).isChecked()).toBe(true);
  await upload(page);
  await page.getByText("3 rows were read. dev has them now.").waitFor();
  const columns = page.getByRole("region", { name: "Columns" });
  await expect.poll(() => columns.innerText()).toMatch(/took_ms\s+long[\s\S]*|@timestamp[\s\S]*date/);
  expect(await page.getByRole("region", { name: "First rows" }).getByText("checkout").count()).toBe(2);
  await page.getByText("from 2026-03-02T09:30:00").waitFor();
  expect(await count()).toBe(3);
});

test("NDJSON: what is there is replaced only after a yes that says what it resets", async ({ visit }) => {
  const { page } = await visit(twins, "/dev/datasets?environment=dev&service=elasticsearch");
  await choose(page, "day.csv", CSV);
  await upload(page);
  await page.getByText("3 rows were read").waitFor();
  await choose(page, "two.ndjson", NDJSON.split("\n").slice(0, 2).join("\n"));
  await upload(page);
  const question = page.getByRole("dialog", { name: "Replace the dataset?" });
  await question.getByText("elasticsearch is reset in dev").waitFor();
  await question.getByRole("button", { name: "Cancel" }).click();
  expect(await count()).toBe(3);
  await upload(page);
  await question.getByRole("button", { name: "Delete and replace" }).click();
  await page.getByText("2 rows were read").waitFor();
  await page.getByRole("heading", { name: "two.ndjson" }).waitFor();
  await page.getByText("several values").waitFor();
  expect(await count()).toBe(2);
});

test("a refusal names lines and columns, with the text around them, and changes nothing", async ({
  visit,
}) => {
  const { page, expectProblem } = await visit(twins, "/dev/datasets");
  expectProblem(/422.*datasets/);
  await choose(page, "broken.csv", "a,b\n1,2\nonly one\n4,5,6\n");
  await upload(page);
  const refusal = page.getByRole("alert");
  await refusal.getByText("broken.csv was refused; nothing was changed.").waitFor();
  await refusal.getByText("line 3", { exact: false }).first().waitFor();
  const places = refusal.getByRole("listitem");
  await expect.poll(() => places.nth(0).innerText()).toContain("only one");
  await expect.poll(() => places.nth(1).locator("mark").innerText()).not.toBe("");
  expect(await count()).toBe(0);
  await choose(page, "broken.ndjson", '{"a":1}\n{"a":\n');
  await upload(page);
  await expect.poll(() => refusal.innerText()).toMatch(/line 2[\s\S]*\{"a":/);
});

test("an upload shows how far it is and can be cancelled; nothing of it stays", async ({ visit }) => {
  const { page, context } = await visit(twins, "/dev/datasets");
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 200_000 };
  await session.send("Network.emulateNetworkConditions", slow);
  const line = `2026-03-02T09:30:00Z,checkout,error,${"9".repeat(9)}\n`;
  await choose(page, "large.csv", `@timestamp,service,level,took_ms\n${line.repeat(100_000)}`);
  await upload(page);
  await page.getByText(/^[\d.]+ [KM]B of [\d.]+ MB$/).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Cancelled. Nothing was changed.").waitFor();
  await session.send("Network.emulateNetworkConditions", { ...slow, uploadThroughput: -1 });
  expect(await count()).toBe(0);
  await choose(page, "day.csv", CSV);
  await upload(page);
  await page.getByText("3 rows were read").waitFor();
});

test("a dataset is deleted after a yes", async ({ visit }) => {
  const { page } = await visit(twins, "/dev/datasets");
  await choose(page, "day.csv", CSV);
  await upload(page);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete the dataset" }).click();
  await page.getByText("elasticsearch has no dataset in environment dev").waitFor();
  expect(await count()).toBe(0);
});
