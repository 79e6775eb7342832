/** Calls placed from the console's Talk page: a real browser, the real agent, real twins. */
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { concatSamples, silence } from "@offhook/audio/pcm";
import { MANIFEST_FILE, readSampleLibrary, type Sample } from "@offhook/audio/sample-library";
import { writeWav } from "@offhook/audio/wav";
import { readScenario } from "@offhook/caller/scenario-file";
import { type Page, testInChromium } from "@offhook/console/testing/browser";
import { findBarriers } from "@offhook/console/testing/page-checks";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { UTTERANCES_FILE } from "@offhook/vapi/samples/utterances";
import { pino } from "pino";
import { afterAll, beforeAll, expect } from "vitest";
import { parse, stringify } from "yaml";
import { readConfig } from "../../agent/config.ts";
import { type RunningAgent, startAgent } from "../../agent/server.ts";
import { clientEnvironment } from "../../scripts/shared/client-environment.ts";
import { PROJECT } from "../../scripts/shared/folders.ts";
import { startProjectTwins } from "../../twins/start.ts";

/** A call is placed in real time. */
const TIMEOUT_MS = 90_000;
const TURN_MS = 30_000;
const CALLER_RATE = 24_000;
const TOKEN = "voice-token-of-the-test";
const log = pino({ level: "silent" });

let folder: string;
/** What the browser's microphone hears from the moment it is opened. */
let microphoneFile: string;
let twins: RunningTwins;
let agent: RunningAgent;
let guarded: RunningAgent;
/** A sentence that was recorded, and that the recogniser does not know. */
let unknown: Sample;
/** The agents that run, as the twins find them. */
let running: RunningAgent[] = [];

const voiceOf = ({ url }: RunningAgent): string => `${url.replace(/^http/, "ws")}/voice`;

const test = testInChromium(() => [
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  `--use-file-for-fake-audio-capture=${microphoneFile}%noloop`,
]);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "talk-"));
  microphoneFile = path.join(folder, "microphone.wav");
  await copySamples();
  const environmentFile = path.join(folder, "environment.yaml");
  const shipped = await readFile(path.join(PROJECT, "twins/environment.yaml"), "utf8");
  const samples = { provider: "samples", samples: path.join(folder, "samples") };
  const environment = parse(shipped.replaceAll("../samples", path.join(PROJECT, "samples")));
  environment.services = environment.services
    .filter(({ name }: { name: string }) => name === "postgres" || name === "vapi")
    .map((service: { name: string; config: object }) =>
      service.name === "vapi" ? { ...service, config: { ...service.config, recognition: samples } } : service,
    );
  await writeFile(environmentFile, stringify(environment));
  twins = await startProjectTwins({
    environmentFile,
    channels: async () =>
      running.map((each) => ({ type: "voice_ws" as const, url: voiceOf(each), protocol: "binary" as const })),
  });
  agent = await start({});
  guarded = await start({ VOICE_TOKEN: TOKEN });
  running = [agent, guarded];
});

afterAll(async () => {
  await agent?.stop();
  await guarded?.stop();
  await twins?.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(variables: Record<string, string>): Promise<RunningAgent> {
  const environment = { ...twins.agentEnvironment(""), ...clientEnvironment(twins), ...variables };
  return startAgent(readConfig({ ...environment, PORT: "0", DRAIN_TIMEOUT_MS: "0" }), { log, environment });
}

/** A folder of samples of which one was taken away. */
async function copySamples(): Promise<void> {
  const from = path.join(PROJECT, "samples");
  const to = path.join(folder, "samples");
  const library = readSampleLibrary(from);
  unknown = library.get("who-is-on-call");
  await cp(from, to, { recursive: true, filter: (file) => !/datasets|scenarios|tables/.test(file) });
  const manifest = JSON.parse(await readFile(path.join(from, MANIFEST_FILE), "utf8"));
  manifest.samples = manifest.samples.filter(({ name }: Sample) => name !== unknown.name);
  await writeFile(path.join(to, MANIFEST_FILE), JSON.stringify(manifest));
  await rm(path.join(to, UTTERANCES_FILE));
}

/** @param sample said after the assistant's greeting, for which a caller waits */
async function putBeforeMicrophone(sample: Sample): Promise<void> {
  const samples = concatSamples(silence(7_000, CALLER_RATE), sample.pcm, silence(2_000, CALLER_RATE));
  await writeFile(microphoneFile, writeWav({ samples, sampleRate: CALLER_RATE }));
}

const reaches = () => [agent, guarded].map((each) => new URL(voiceOf(each)).origin);

const call = (page: Page, how: RegExp) => page.getByRole("button", { name: how }).click();
const WITH_MICROPHONE = /Call with the microphone/;
const WITHOUT = /Call without one/;

/** Waits until somebody said or did something. */
function line(page: Page, who: "You" | "Assistant" | "Tool", what: RegExp) {
  const found = page
    .getByRole("log")
    .getByRole("listitem")
    .filter({ hasText: who })
    .filter({ hasText: what });
  return found.first().waitFor({ timeout: TURN_MS });
}

async function callsOf(twin: RunningTwins) {
  const { body } = await request("GET", `${twin.baseUrl}/c/dev/vapi/sim/calls?order=newest`, {
    headers: { "x-api-key": twin.apiKey },
  });
  return body.calls;
}

test("a sample is said without a microphone, a tool runs, and hanging up closes the line with 1000", {
  timeout: TIMEOUT_MS,
}, async ({ visit }) => {
  const { page } = await visit(twins, "/dev/talk", { reaches: reaches() });
  await call(page, WITHOUT);
  await expect
    .poll(() =>
      page.getByLabel("Assistant", { exact: true }).evaluate((meter) => Reflect.get(meter, "value")),
    )
    .toBeGreaterThan(0.3);
  await line(page, "Assistant", /How can I help/);
  await page.getByRole("button", { name: "Say open-incident" }).click();
  await line(page, "You", /I need to open an incident for the checkout service/);
  await line(page, "Tool", /who_is_on_call has answered/);
  await line(page, "Assistant", /is on call for checkout/);
  expect(await page.getByRole("button", { name: "Keep as sample" }).count()).toBe(0);
  expect(await findBarriers(page)).toEqual([]);
  await page.keyboard.press("h");
  await page.getByText("You hung up").waitFor();
  await page.getByText("(code 1000)").waitFor();
  const [{ id, simulation_id, tool_calls }] = await callsOf(twins);
  expect(tool_calls).toEqual(["who_is_on_call"]);
  await page.getByText("customer-ended-call").waitFor();
  expect(await page.getByRole("link", { name: "Open the call" }).getAttribute("href")).toBe(
    `/console/dev/calls/${id}`,
  );
  await agent.idle();
  const simulation = `${twins.baseUrl}/simulations/${simulation_id}`;
  await expect.poll(async () => (await request("GET", simulation)).body.ended_at).toEqual(expect.any(String));
  await page.getByRole("link", { name: "Calls", exact: true }).click();
  await page.getByRole("rowheader", { name: "talk", exact: true }).first().waitFor();
});

async function scriptsOf(twin: RunningTwins): Promise<string[]> {
  const { body } = await request("GET", `${twin.baseUrl}/c/dev/vapi/sim/scripts`, {
    headers: { "x-api-key": twin.apiKey },
  });
  return body.scripts.map(({ simulation_id }: { simulation_id: string }) => simulation_id);
}

test("the page says what the script answers; the rules of a scenario file answer the next call", {
  timeout: TIMEOUT_MS,
}, async ({ visit }) => {
  const { page, expectProblem } = await visit(twins, "/dev/talk", { reaches: reaches() });
  const samples = page.getByRole("list", { name: "Samples" }).getByRole("listitem");
  const answered = samples.filter({ hasText: "answered by the script" });
  await page.getByText("only what its rules name is answered").waitFor();
  await page.getByText("hello i need to open an incident for the checkout service").waitFor();
  await answered.filter({ hasText: "open-incident" }).waitFor();
  expect(await answered.filter({ hasText: "ask-status" }).count()).toBe(0);
  expect(await samples.first().innerText()).toContain("answered by the script");

  const file = page.getByLabel("Or the rules of a scenario file");
  expectProblem(/422/);
  await file.setInputFiles({ name: "x.yaml", mimeType: "", buffer: Buffer.from("name: x") });
  await page.getByRole("alert").filter({ hasText: "brain" }).waitFor();
  await file.setInputFiles(path.join(PROJECT, "samples/scenarios/ask-status.yaml"));
  await answered.filter({ hasText: "ask-status" }).waitFor();
  expect(await answered.filter({ hasText: "open-incident" }).count()).toBe(0);
  expect(await page.getByLabel("Script of the next call").inputValue()).toBe("ask-status");
  expect(new URL(page.url()).searchParams.get("script")).toBe("ask-status");
  expect(await findBarriers(page)).toEqual([]);

  await call(page, WITHOUT);
  await line(page, "Assistant", /How can I help/);
  expect(await scriptsOf(twins)).toHaveLength(3);
  await page.getByRole("button", { name: "Say ask-status" }).click();
  await line(page, "Tool", /incident_status has answered/);
  await page.getByRole("button", { name: /Hang up/ }).click();
  await page.getByText("(code 1000)").waitFor();
  await expect.poll(() => scriptsOf(twins)).toEqual(["*", "ask-status"]);
});

const REFUSES_THE_RATE = `
  const Context = globalThis.AudioContext;
  globalThis.AudioContext = class extends Context {
    constructor(options = {}) {
      if (options.sampleRate !== undefined) throw new DOMException("no such rate", "NotSupportedError");
      super({ ...options, sampleRate: 48000 });
    }
  };
`;

test.for(["takes the call's rate", "has another rate"] as const)(
  "what the microphone hears is recognised and a tool runs, where the browser %s",
  { timeout: TIMEOUT_MS },
  async (browsers, { visit }) => {
    await putBeforeMicrophone(readSampleLibrary(path.join(folder, "samples")).get("open-incident"));
    const { page, open } = await visit(twins, "/dev/calls", { reaches: reaches() });
    if (browsers === "has another rate") await page.addInitScript(REFUSES_THE_RATE);
    await open("/dev/talk");
    await call(page, WITH_MICROPHONE);
    await line(page, "You", /I need to open an incident for the checkout service/);
    await line(page, "Tool", /who_is_on_call has answered/);
    await line(page, "Assistant", /is on call for checkout/);
    await page.getByRole("button", { name: /Mute/ }).click();
    await page.getByText("muted", { exact: true }).waitFor();
    await page.getByRole("button", { name: /Hang up/ }).click();
    await page.getByText("(code 1000)").waitFor();
  },
);

test("a turn that is heard as nothing is shown, kept as a sample, and recognised from then on", {
  timeout: TIMEOUT_MS,
}, async ({ visit }) => {
  await putBeforeMicrophone(unknown);
  const { page, expectProblem } = await visit(twins, "/dev/talk", { reaches: reaches() });
  await call(page, WITH_MICROPHONE);
  await line(page, "You", /heard as nothing.*keep this as a sample with its text/);
  await page.getByRole("button", { name: "Keep as sample" }).click();
  const dialog = page.getByRole("dialog", { name: "Keep as sample" });
  expect(await findBarriers(page)).toEqual([]);
  const [text, name] = [dialog.getByLabel("What was said"), dialog.getByLabel("Name")];
  await text.fill("Who is on call for search?");
  expect(await name.inputValue()).toBe("who-is-on-call-for");
  await name.fill("open-incident");
  expectProblem(/409/);
  await dialog.getByRole("button", { name: "Keep", exact: true }).click();
  await expect.poll(() => name.getAttribute("aria-invalid")).toBe("true");
  expect(await dialog.getByText(/take another name/).isVisible()).toBe(true);
  await name.fill("who-searches");
  await dialog.getByRole("button", { name: "Keep", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Say who-searches" }).click();
  await line(page, "You", /Who is on call for search\?/);
  await page.getByRole("button", { name: /Hang up/ }).click();
  await page.getByText("(code 1000)").waitFor();
});

test("the call is kept as a scenario that the caller can read", { timeout: TIMEOUT_MS }, async ({
  visit,
}) => {
  const { page } = await visit(twins, "/dev/talk", { reaches: reaches() });
  await call(page, WITHOUT);
  await line(page, "Assistant", /How can I help/);
  await page.getByRole("button", { name: "Say thanks-goodbye" }).click();
  await page.getByText("The agent ended the call").waitFor({ timeout: TURN_MS });
  await page.getByRole("button", { name: "Keep as scenario" }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download" }).click();
  const download = await downloading;
  const file = path.join(folder, download.suggestedFilename());
  await download.saveAs(file);
  const scenario = readScenario(file, readSampleLibrary(path.join(folder, "samples")));
  expect(scenario.plan.steps).toMatchObject([
    { type: "say", utterance: { text: "Thank you, that is all. Goodbye." } },
    { type: "await-hang-up" },
  ]);
});

test("an agent with a token is called once the token is given; the page keeps it in no storage", {
  timeout: TIMEOUT_MS,
}, async ({ visit }) => {
  const { page, context, expectProblem } = await visit(twins, "/dev/talk", { reaches: reaches() });
  await page.getByLabel("Agent").selectOption(voiceOf(guarded));
  expectProblem(/Authentication failed/);
  await call(page, WITHOUT);
  await page.getByText("There was no call").waitFor();
  await page.getByLabel("VOICE_TOKEN of the agent").fill(TOKEN);
  await call(page, WITHOUT);
  await page.getByText("Talking").waitFor();
  await page.getByRole("button", { name: /Hang up/ }).click();
  await page.getByText("(code 1000)").waitFor();
  expect(JSON.stringify(await context.storageState())).not.toContain(TOKEN);
  expect(page.url()).not.toContain(TOKEN);
});

test("without an agent the page says how to start one; one that starts later needs the page anew", async ({
  visit,
}) => {
  running = [];
  try {
    const { page, expectProblem } = await visit(twins, "/dev/talk", { reaches: reaches() });
    await page.getByText("npm run dev").waitFor();
    running = [agent];
    await page.getByRole("button", { name: "Look again" }).click();
    expectProblem(/Content Security Policy/);
    await call(page, WITHOUT);
    await page.getByText(/load the page again/).waitFor();
    await page.reload();
    await call(page, WITHOUT);
    await page.getByText("Talking").waitFor();
    await page.getByRole("button", { name: /Hang up/ }).click();
    await page.getByText("(code 1000)").waitFor();
  } finally {
    running = [agent, guarded];
  }
});

const REFUSES_THE_MICROPHONE = `
  navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"));
`;

test("a refused microphone is explained, and nobody is called", async ({ visit }) => {
  const { page, open } = await visit(twins, "/dev/calls", { reaches: reaches() });
  await page.addInitScript(REFUSES_THE_MICROPHONE);
  await open("/dev/talk");
  const before = await callsOf(twins);
  await call(page, WITH_MICROPHONE);
  await page.getByRole("alert").filter({ hasText: "Allow it beside the page's address" }).waitFor();
  expect(await page.getByRole("button", { name: /Hang up/ }).count()).toBe(0);
  expect(await callsOf(twins)).toEqual(before);
});
