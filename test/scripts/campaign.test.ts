/** Campaigns: each call is judged once, whatever ends meanwhile: a worker, the database, the program that started it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { CampaignFile } from "@offhook/campaign/campaign-file";
import type { CallOrder, PlacedCall } from "@offhook/campaign/place-call";
import { CallQueue } from "@offhook/campaign/queue";
import { type CallRecord, type CampaignSpec, specSchema } from "@offhook/campaign/records";
import { CampaignStore } from "@offhook/campaign/store";
import { Worker, type WorkerEvent } from "@offhook/campaign/worker";
import { leaseServer, type ServerLease } from "@offhook/postgres/server/server";
import pg from "pg";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { leaseDatabase } from "../../scripts/campaign/database.ts";
import { readCommandLine } from "../../scripts/campaign/options.ts";
import { requireStartable } from "../../scripts/campaign/startable.ts";
import { Command, run } from "../support/command.ts";

const log = pino({ level: "silent" });
/** Short, so that a test need not wait for what a night's campaign has time for. */
const GRACE_MS = 300;

let server: ServerLease;
let databaseUrl: string;
let store: CampaignStore;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  server = await leaseServer(log);
  databaseUrl = server.server.adminUrl;
  store = await CampaignStore.open(databaseUrl);
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  for (const { id } of await store.listRunning()) await store.cancelCampaign(id);
});
afterAll(async () => {
  await store.close();
  await server.release();
});

async function begin(spec: Partial<CampaignSpec> = {}) {
  const scenarios = new Map([
    ["one", "text of one"],
    ["two", "text of two"],
  ]);
  const full = specSchema.parse({
    scenarios: [...scenarios.keys()],
    variants: [{ name: "v" }],
    repeat: 5,
    ...spec,
  });
  const campaign = await store.createCampaign({ name: "test", spec: full, scenarios });
  const queue = await CallQueue.open(store, () => undefined);
  await queue.offer(campaign);
  return { campaign, queue };
}

/** What a call comes to that took no time: the same for a seed. */
function judgeAtOnce({ seed, scenarioText }: CallOrder): PlacedCall {
  const verdict = seed % 3 === 0 ? "failed" : "passed";
  const failures = verdict === "failed" ? [`${scenarioText} with ${seed}`] : [];
  const report = { seed };
  return {
    ...{ verdict, failures, outcome: "completed", durationMs: 1_000, responseMs: [700] },
    ...{ heldUp: seed % 2 === 0, toolCalls: ["open"] },
    keepable: { report, trace: null, audio: Buffer.alloc(1_000, 1) },
  };
}

interface Hired {
  worker: Worker;
  events: WorkerEvent[];
}

async function hire(
  campaign: string,
  place: (order: CallOrder) => Promise<PlacedCall>,
  name = "w",
): Promise<Hired> {
  const events: WorkerEvent[] = [];
  const worker = await Worker.start({
    ...{ databaseUrl, name, campaign, place, concurrency: 3, graceMs: GRACE_MS },
    onEvent: (event) => events.push(event),
  });
  return { worker, events };
}

async function recordsOf(campaign: string): Promise<CallRecord[]> {
  const records: CallRecord[] = [];
  for await (const record of store.records(campaign)) records.push(record);
  return records;
}

const outcomesOf = (records: readonly CallRecord[]) =>
  records.map(({ scenario, variant, repeat, verdict, failures, heldUp }) => ({
    ...{ scenario, variant, repeat, verdict, failures, heldUp },
  }));

/** Kills the server of the database; it is started again by itself. */
async function killServer(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query<{ file: string }>("SELECT pg_read_file('postmaster.pid') AS file");
  const gone = new Promise((resolve) => client.once("end", resolve));
  process.kill(Number(rows[0]?.file.split("\n")[0]), "SIGKILL");
  await gone;
}

test("two workers judge each call once, with the verdicts of one", async () => {
  const { campaign: alone } = await begin({ repeat: 20 });
  const { campaign: shared } = await begin({ repeat: 20 });
  const place = async (order: CallOrder) => judgeAtOnce(order);
  await (await hire(alone.id, place)).worker.ended;
  const hired = await Promise.all(["a", "b"].map((name) => hire(shared.id, place, name)));
  await Promise.all(hired.map(({ worker }) => worker.ended));

  const [ofOne, ofTwo] = [await recordsOf(alone.id), await recordsOf(shared.id)];
  expect(ofTwo).toHaveLength(40);
  expect(new Set(ofOne.map(({ verdict }) => verdict))).toEqual(new Set(["passed", "failed"]));
  expect(new Set(ofOne.map(({ heldUp }) => heldUp))).toEqual(new Set([true, false]));
  expect(outcomesOf(ofTwo)).toEqual(outcomesOf(ofOne));
  expect((await store.readCampaign(shared.id)).endedAt).not.toBeNull();
  // Of failures alone, as said by default; each with what was offered.
  for (const record of ofTwo) {
    const kept = await store.kept(shared.id, record);
    expect(kept !== undefined).toBe(record.verdict === "failed");
    if (kept)
      expect({ bytes: kept.audio?.length, omitted: kept.omitted }).toEqual({ bytes: 1_000, omitted: [] });
  }
});

test("calls of an earlier version, which did not say whether they were held up, count as not held up", async () => {
  const { campaign } = await begin({ repeat: 1 });
  await (await hire(campaign.id, async (order) => judgeAtOnce(order))).worker.ended;
  await store.pool.query("ALTER TABLE campaign.calls DROP COLUMN held_up");
  const later = await CampaignStore.open(databaseUrl);
  await later.close();
  expect((await recordsOf(campaign.id)).map(({ heldUp }) => heldUp)).toEqual([false, false]);
});

test("the first verdict of a call stays, and a limit of bytes is kept and said", async () => {
  const limits = { callBytes: 1_100, campaignBytes: 1_500 };
  const { campaign, queue } = await begin({ repeat: 1, keep: "all", keepLimits: limits });
  const claims = await queue.claim(campaign, 999_999, 2);
  // Number 999,999 is nobody's: its calls go back, and are claimed once more.
  expect(await queue.returnLost()).toBe(2);
  const at = campaign.createdAt;
  const judged = (verdict: "passed" | "failed") =>
    claims.map((claim) => ({
      claim,
      record: {
        ...{
          ...claim.key,
          verdict,
          failures: [],
          outcome: null,
          durationMs: 1,
          responseMs: [],
          heldUp: false,
          toolCalls: [],
        },
        ...{ startedAt: at, endedAt: at, worker: verdict, attempts: 1 },
      },
      keepable: { report: {}, trace: null, audio: Buffer.alloc(1_000) },
    }));
  await Promise.all([queue.finish(judged("passed")), queue.finish(judged("passed"))]);
  await queue.finish(judged("failed"));
  const records = await recordsOf(campaign.id);
  expect(records.map(({ verdict }) => verdict)).toEqual(["passed", "passed"]);
  expect(await queue.endIfComplete(campaign)).toBe(true);
  const kept = await Promise.all(records.map((record) => store.kept(campaign.id, record)));
  expect(kept.map((each) => each?.audio?.length ?? 0).sort()).toEqual([0, 1_000]);
  expect(kept.flatMap((each) => each?.omitted ?? [])).toEqual([
    "audio: 1000 bytes were not kept, because of the limit of 1500 bytes a campaign",
  ]);
  await queue.close();
});

test("calls of a killed worker begin again, and none is lost", async () => {
  const { campaign } = await begin();
  const program = fileURLToPath(new URL("./campaign/stuck-worker.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", program, databaseUrl, campaign.id], {
    stdio: "inherit",
  });
  children.add(child);
  const claimed = async () => (await store.pool.query("SELECT * FROM campaign.claims")).rowCount;
  await expect.poll(claimed).toBe(4);
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
  const { worker, events } = await hire(campaign.id, async (order) => judgeAtOnce(order));
  await worker.ended;
  const records = await recordsOf(campaign.id);
  expect(records).toHaveLength(10);
  expect(records.filter(({ attempts }) => attempts === 2)).toHaveLength(4);
  expect(events).toContainEqual({ type: "returned", calls: 4 });
});

test("a call that nobody can place counts as an error, with the reason, after its attempts", async () => {
  const { campaign } = await begin({ repeat: 1, attempts: 2 });
  const { worker } = await hire(campaign.id, async (order) => {
    if (order.key.scenario === "one") throw new Error("no agent at ws://nowhere");
    return judgeAtOnce(order);
  });
  await worker.ended;
  const [one, two] = await recordsOf(campaign.id);
  expect(one).toMatchObject({
    scenario: "one",
    verdict: "error",
    failures: ["no agent at ws://nowhere"],
    attempts: 2,
  });
  expect(two).toMatchObject({ scenario: "two", attempts: 1 });
});

test("a cancelled campaign begins no further call, and one that is resumed misses none", async () => {
  const { campaign, queue } = await begin();
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let placed = 0;
  const { worker } = await hire(campaign.id, async (order) => {
    placed += 1;
    await gate;
    return judgeAtOnce(order);
  });
  await expect.poll(() => placed).toBe(3);
  await store.cancelCampaign(campaign.id);
  release();
  await worker.ended;
  expect(await recordsOf(campaign.id)).toHaveLength(3);
  await queue.offer(await store.readCampaign(campaign.id));
  await (await hire(campaign.id, async (order) => judgeAtOnce(order))).worker.ended;
  expect(await recordsOf(campaign.id)).toHaveLength(10);
  await queue.close();
});

test("verdicts of calls that end while the database is down are written when it is back", async () => {
  const { campaign } = await begin();
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let placed = 0;
  const { worker, events } = await hire(campaign.id, async (order) => {
    placed += 1;
    await gate;
    return judgeAtOnce(order);
  });
  await expect.poll(() => placed).toBe(3);
  await killServer(databaseUrl);
  release();
  await worker.ended;
  const records = await recordsOf(campaign.id);
  expect(records).toHaveLength(10);
  expect(records.map(({ attempts }) => attempts)).toEqual(records.map(() => 1));
  expect(placed).toBe(10);
  expect(events.some(({ type }) => type === "waiting")).toBe(true);
});

test("programs share the embedded database, which is started again when killed and stops after the last", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "offhook-campaigns-"));
  // Where tests run as root, Postgres runs as another user.
  chmodSync(folder, 0o711);
  const [one, two] = await Promise.all([leaseDatabase({}, folder), leaseDatabase({}, folder)]);
  expect(two.url).toBe(one.url);
  await one.release();
  await killServer(two.url);
  const again = await leaseDatabase({}, folder);
  expect(again.url).toBe(two.url);
  await two.release();
  await again.release();
  await expect.poll(() => readdirSync(folder)).not.toContain("address");
  rmSync(folder, { recursive: true, force: true });
});

test("a worker that somebody starts says what it works for, and each verdict as it comes", async () => {
  const variables = { CAMPAIGN_DATABASE_URL: databaseUrl };
  const start = ["start", "--scenarios", "ask-status", "--repeat", "2", "--speed", "10", "--detach"];
  const { stdout: started } = await run("campaign.ts", start, variables);
  const [, id = ""] = /^campaign (\w+): 2 calls$/m.exec(started) ?? [];
  const { exitCode, stdout } = await run("campaign.ts", ["worker", "--campaign", id], variables);
  expect(stdout).toContain(`places calls of campaign ${id}, 1 at a time`);
  expect(stdout.match(/^passed ask-status \(default, \d\)$/gm)).toHaveLength(2);
  expect(exitCode).toBe(0);
});

test("npm run campaign places calls with twins and agents of its own, and says how they went", async () => {
  const args = ["start", "--scenarios", "open-incident", "--repeat", "2", "--speed", "10", "--keep", "all"];
  const { exitCode, stdout } = await run("campaign.ts", args, { CAMPAIGN_DATABASE_URL: databaseUrl });
  expect(stdout).toContain("2/2 calls, 2 passed, 0 failed");
  expect(exitCode).toBe(0);
  const [campaign] = await store.listCampaigns();
  const [record] = await recordsOf(campaign?.id ?? "");
  expect(record).toMatchObject({ outcome: "completed", toolCalls: ["who_is_on_call", "open_incident"] });
  const kept = record && (await store.kept(campaign?.id ?? "", record));
  expect(kept?.audio?.subarray(0, 4).toString()).toBe("RIFF");
  expect(kept?.trace?.length).toBeGreaterThan(0);
});

test("a second signal ends npm run campaign at once, and the call that ran begins again elsewhere", async () => {
  const agent = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  const called = once(agent, "connection");
  await once(agent, "listening");
  const { port } = agent.address() as AddressInfo;
  const args = ["start", "--scenarios", "open-incident", "--agent", `ws://127.0.0.1:${port}/voice`];
  const command = new Command("campaign.ts", args, { CAMPAIGN_DATABASE_URL: databaseUrl });
  const [line] = await called;
  const hungUp = once(line, "close");
  command.interrupt();
  await command.output(/finishing the calls that run; once more to end at once/);
  const again = setInterval(() => command.interrupt(), 50);
  await command.output(/goes on/);
  clearInterval(again);
  await hungUp;
  agent.close();
  const { exitCode, stdout } = await command.finished();
  expect(exitCode).toBe(130);
  const [, id = ""] = /resume (\w+) {2}goes on/.exec(stdout) ?? [];
  await (await hire(id, async (order) => judgeAtOnce(order))).worker.ended;
  expect(await recordsOf(id)).toMatchObject([{ scenario: "open-incident", attempts: 2 }]);
});

test("a list whose reader has enough of it ends as usual", async () => {
  const command = new Command("campaign.ts", ["list"], { CAMPAIGN_DATABASE_URL: databaseUrl });
  command.closeOutput();
  expect((await command.finished()).exitCode).toBe(0);
});

test("npm run campaign says what is wrong, and begins nothing", async () => {
  const { exitCode, stderr } = await run("campaign.ts", ["start", "--scenarios", "nobody"]);
  expect(stderr).toContain("there is no scenario");
  expect(exitCode).toBe(2);
});

test("faults that a twin would refuse, and scenarios of one name, are refused before a call is queued", async () => {
  const fault = { effect: "hang", all: true };
  const scenario = (file: string, faults: CampaignFile["variants"][number]["faults"] = {}) => ({
    ...{ name: "one", file, text: file, faults },
  });
  const faults = { engine: [fault, { effect: "explode", all: true }, { effect: "hang" }], mysql: [fault] };
  const start = (variants: CampaignFile["variants"], scenarios = [scenario("a/one.yaml")]) =>
    requireStartable({ variants, agents: [] }, scenarios, undefined);

  await expect(start([{ name: "good", faults: { engine: [fault] } }])).resolves.toBeUndefined();
  await expect(start([{ name: "rough", faults }])).rejects.toThrow(
    /^variant rough: faults\.engine\[1\]\.effect: must be one of status, .*\n.*engine\[2\]\.operation: say what it is for.*\n.*mysql: there is no such twin; there are .*engine/,
  );
  await expect(start([{ name: "good" }], [scenario("a/one.yaml", { engine: [{}] })])).rejects.toThrow(
    "a/one.yaml: faults.engine[0].effect: must be one of",
  );
  await expect(start([{ name: "good" }], [scenario("a/one.yaml"), scenario("b/one.yaml")])).rejects.toThrow(
    "b/one.yaml: a/one.yaml is named one too: rename one of them",
  );
  const elsewhere = { name: "next", agent: "ws://127.0.0.1:1/voice", faults: { engine: [fault] } };
  await expect(start([elsewhere])).rejects.toThrow("variant next: its faults need the twins");
});

test.each([
  [["start", "--scenarios", "all", "--variant", "x:framing=morse"], "variants[0].framing: Invalid option"],
  [["start", "--scenarios", "all", "--speed", "60"], "speed: Too big"],
  [["worker", "--agent", "foo"], "--agent.0: must be a ws:// or http:// address"],
  [["cancel"], "cancel takes the id of a campaign"],
  [["fly"], 'there is no command "fly"'],
])("the command line %j says what is wrong", (args, words) => {
  expect(() => readCommandLine(args)).toThrow(words);
});

test("a campaign file says where it is wrong", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "offhook-campaigns-"));
  const file = path.join(folder, "nightly.yaml");
  writeFileSync(file, "scenarios: [all]\nvariants:\n  - name: a\n  - name: a\n");
  expect(() => readCommandLine(["start", file])).toThrow(
    `${file}:4: variants[1].name: "a" is the name of another`,
  );
  writeFileSync(file, "scenarios: [all]\nrepeat: none\n");
  expect(() => readCommandLine(["start", file])).toThrow(`${file}:2: repeat: `);
  expect(readCommandLine(["start", file, "--repeat", "3"])).toMatchObject({
    file: { repeat: 3, scenarios: ["all"], keep: "failures", variants: [{ name: "default" }] },
  });
  rmSync(folder, { recursive: true });
});
