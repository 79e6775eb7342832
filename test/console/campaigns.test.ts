/** The console's pages of campaigns, and the routes they read: a real database, a real browser. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { writeWav } from "@offhook/audio/wav";
import { type CallKey, type CallRecord, type Campaign, specSchema } from "@offhook/campaign/records";
import { CampaignStore, insertKept, insertRecords } from "@offhook/campaign/store";
import { type Page, test } from "@offhook/console/testing/browser";
import { expectUsable } from "@offhook/console/testing/page-checks";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { leaseServer, type ServerLease } from "@offhook/postgres/server/server";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { startProjectTwins } from "../../twins/start.ts";

const VARIABLE = "CAMPAIGN_DATABASE_URL";
/** Nothing listens there. */
const NO_DATABASE = "postgres://nobody@127.0.0.1:1/none";
const AUDIO_SECONDS = 2;
const RATE = 8_000;

let folder: string;
let twins: RunningTwins;
let server: ServerLease;
let store: CampaignStore;
let ended: Campaign;
let baseline: Campaign;
const previous = process.env[VARIABLE];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "console-campaigns-"));
  const environmentFile = path.join(folder, "environment.yaml");
  await writeFile(environmentFile, "version: 1\nservices: []\n");
  [twins, server] = await Promise.all([
    startProjectTwins({ environmentFile }),
    leaseServer(pino({ level: "silent" })),
  ]);
  process.env[VARIABLE] = server.server.adminUrl;
  store = await CampaignStore.open(server.server.adminUrl);
  baseline = await begin("main");
  await write(baseline, [
    ...calls(baseline, "open-incident", "binary", "p".repeat(10)),
    ...calls(baseline, "ask-status", "json", "p".repeat(10)),
  ]);
  await end(baseline);
  ended = await begin("nightly");
  await write(ended, [
    ...calls(ended, "open-incident", "binary", "pppffffffe"),
    ...calls(ended, "ask-status", "binary", "p".repeat(10)),
    ...calls(ended, "ask-status", "json", "pppppppppf"),
  ]);
  await insertKept(store.pool, ended.id, cellOf(4), {
    report: { outcome: "completed", turns: 3 },
    trace: null,
    audio: Buffer.from(writeWav({ samples: new Int16Array(AUDIO_SECONDS * RATE), sampleRate: RATE })),
    omitted: ["trace: 5 bytes were not kept"],
  });
  await end(ended);
});
afterAll(async () => {
  if (previous === undefined) delete process.env[VARIABLE];
  else process.env[VARIABLE] = previous;
  await twins?.stop();
  await store?.close();
  await server?.release();
  await rm(folder, { recursive: true });
});

function begin(name: string): Promise<Campaign> {
  const scenarios = new Map([
    ["open-incident", "text"],
    ["ask-status", "text"],
  ]);
  const variants = [{ name: "binary" }, { name: "json", framing: "json" }];
  const spec = specSchema.parse({ scenarios: [...scenarios.keys()], variants, repeat: 10 });
  return store.createCampaign({ name, spec, scenarios });
}

async function end({ id }: Campaign): Promise<void> {
  await store.pool.query("UPDATE campaign.campaigns SET ended_at = now() WHERE id = $1", [id]);
}

async function write(campaign: Campaign, records: readonly CallRecord[]): Promise<void> {
  expect(await insertRecords(store.pool, campaign.id, records)).toHaveLength(records.length);
}

const cellOf = (repeat: number): CallKey => ({ scenario: "open-incident", variant: "binary", repeat });
const VERDICTS = { p: "passed", f: "failed", e: "error" } as const;

/** A record for each letter of the verdicts: `ppf` for two that passed and one that failed. */
function calls({ createdAt }: Campaign, scenario: string, variant: string, verdicts: string): CallRecord[] {
  return [...verdicts].map((letter, index) => {
    const verdict = VERDICTS[letter as keyof typeof VERDICTS];
    const failures = {
      passed: [],
      failed: [`said: expected <b>INC-${index}</b>`],
      error: ["no agent answered"],
    };
    return {
      ...{ scenario, variant, repeat: index + 1, verdict, failures: failures[verdict], outcome: "completed" },
      ...{
        durationMs: 12_500,
        responseMs: [800, 900],
        heldUp: index % 3 === 0,
        toolCalls: ["open_incident"],
        worker: "w1",
        attempts: 1,
      },
      ...{ startedAt: createdAt, endedAt: createdAt },
    };
  });
}

const ask = (route: string, headers: Record<string, string> = {}) =>
  request("GET", `${twins.baseUrl}/campaigns${route}`, {
    headers: { "x-api-key": twins.apiKey, ...headers },
  });
const cell = (page: Page, name: RegExp) => page.getByRole("cell", { name }).first();
const link = (page: Page, name: string | RegExp) => page.getByRole("link", { name }).first();

describe("the pages", () => {
  test("lead from the list to what is flaky, to its calls, and to the sound of one", async ({ visit }) => {
    const { page } = await visit(twins, "/dev/calls");
    await link(page, "Campaigns").click();
    await page.getByRole("row", { name: /nightly ended 30 of 40 75\.9 % \(57\.9–87\.8\) 1/ }).waitFor();
    await expectUsable(page, "campaigns");

    await link(page, "nightly").click();
    await page.getByText("22 of 29 calls passed: 75.9 % (57.9–87.8); 1 call could not be judged").waitFor();
    const flaky = page.getByRole("listitem").filter({ hasText: "passed" });
    // Closest to even first.
    expect(await flaky.allInnerTexts()).toEqual([
      "open-incident, binary: 3 of 9 passed",
      "ask-status, json: 9 of 10 passed",
    ]);
    await page.getByText("12 of 30 calls, by a machine too busy for the speed").waitFor();
    await page.getByText("7 × said: expected <b>INC-#</b>").waitFor();
    await page.getByText("1 × not judged: no agent answered").waitFor();
    await cell(page, /3 of 9 flaky ?1 not judged/).waitFor();
    await cell(page, /no calls yet/).waitFor();

    await page.getByLabel("Compared with").selectOption({ value: baseline.id });
    await page.getByText(/open-incident, binary: 3 of 9 pass, 10 of 10 .* fewer, beyond chance/).waitFor();
    await page.getByText("Without counterpart in the baseline: ask-status, binary.").waitFor();
    expect(page.url()).toContain(`baseline=${baseline.id}`);
    await expectUsable(page, "campaign");

    await link(page, "3 of 9").click();
    await page.getByLabel("Verdict").selectOption("failed");
    const rows = page.getByRole("region", { name: "Calls of open-incident, binary" }).last().getByRole("row");
    await expect.poll(() => rows.count()).toBe(1 + 6);
    await link(page, "4").click();
    await page.getByRole("heading", { name: "open-incident, binary, call 4" }).waitFor();
    await page.getByText("a busy machine held the call up: they are not counted").waitFor();
    await page.getByText("trace: 5 bytes were not kept").waitFor();
    const duration = () => page.evaluate<number>("document.querySelector('audio').duration");
    await expect.poll(duration).toBe(AUDIO_SECONDS);
    await page.getByText("Report", { exact: true }).click();
    await page.getByText('"turns": 3').waitFor();
    await expectUsable(page, "campaign-call");
  });

  test("fill in while a campaign runs", async ({ visit }) => {
    const running = await begin("running");
    const { page } = await visit(twins, `/dev/campaigns/${running.id}`);
    await page.getByText("no call has been judged; 40 calls missing, the campaign runs").waitFor();
    await write(running, calls(running, "open-incident", "json", "ppf"));
    await cell(page, /2 of 3 flaky/).waitFor();
    await store.cancelCampaign(running.id);
    await page.getByText("cancelled", { exact: true }).waitFor();
  });

  test("say what there is to do without a database, and show what it has once it runs", async ({ visit }) => {
    process.env[VARIABLE] = NO_DATABASE;
    const { page } = await visit(twins, "/dev/campaigns");
    await page.getByText(/CAMPAIGN_DATABASE_URL cannot be reached/).waitFor();
    await page.getByText("npm run campaign -- start --scenarios all --repeat 10").waitFor();
    process.env[VARIABLE] = server.server.adminUrl;
    await link(page, "nightly").waitFor();
  });
});

describe("the routes", () => {
  test("take the key, and say what is wrong", async () => {
    expect((await request("GET", `${twins.baseUrl}/campaigns`)).status).toBe(401);
    expect((await ask("/nothing/report")).body.error.message).toContain("there is no campaign nothing");
    expect((await ask(`/${ended.id}/report?baseline=nothing`)).status).toBe(404);
    expect((await ask(`/${ended.id}/calls?verdict=good&after=1`)).body.error.problems).toHaveLength(2);
    expect((await ask(`/${ended.id}/calls/open-incident/binary/11`)).status).toBe(404);
    expect((await ask(`/${ended.id}/calls/open-incident/binary/x`)).status).toBe(404);
    process.env[VARIABLE] = NO_DATABASE;
    expect((await ask(`/${ended.id}`)).status).toBe(503);
    process.env[VARIABLE] = server.server.adminUrl;
    expect((await ask(`/${ended.id}`)).body).toMatchObject({
      name: "nightly",
      calls: 30,
      variants: ["binary", "json"],
    });
  });

  test("list every call once, in pages", async () => {
    const found: string[] = [];
    let after = "";
    for (;;) {
      const { body } = await ask(`/${ended.id}/calls?limit=7${after}`);
      found.push(...body.calls.map((call: CallKey) => `${call.scenario} ${call.variant} ${call.repeat}`));
      if (body.next === null) break;
      after = `&after=${encodeURIComponent(body.next)}`;
    }
    const { body } = await ask(`/${ended.id}/calls/open-incident/binary/1`);
    expect(body.call).toMatchObject({
      verdict: "passed",
      started_at: ended.createdAt,
      response_ms: [800, 900],
      held_up: true,
    });
    expect(found).toHaveLength(30);
    expect(new Set(found).size).toBe(30);
  });

  test("report, with the baseline that is named", async () => {
    const { body } = await ask(`/${ended.id}/report?baseline=${baseline.id}`);
    expect(body).toMatchObject({
      version: 1,
      total: { passed: 22 },
      comparison: { baseline: { name: "main" } },
    });
    expect((await ask(`/${ended.id}/report`)).body.comparison).toBeNull();
  });

  test("send the sound, whole or a range of it", async () => {
    const address = `/${ended.id}/calls/open-incident/binary/4/audio`;
    const whole = await ask(address);
    expect(whole.headers.get("content-type")).toBe("audio/wav");
    const bytes = Number(whole.headers.get("content-length"));
    expect(bytes).toBeGreaterThan(AUDIO_SECONDS * RATE * 2);
    const part = await ask(address, { range: "bytes=8-11" });
    expect(part.status).toBe(206);
    expect(part.headers.get("content-range")).toBe(`bytes 8-11/${bytes}`);
    expect(part.text).toBe("WAVE");
    expect((await ask(address, { range: `bytes=${bytes}-` })).status).toBe(416);
    expect((await ask(`/${ended.id}/calls/open-incident/binary/5/audio`)).status).toBe(404);
  });
});
