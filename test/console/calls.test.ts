/** The Calls page: calls that the real caller places to the real agent, in a real browser. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { readScenario } from "@offhook/caller/scenario-file";
import { type Page, test } from "@offhook/console/testing/browser";
import { expectUsable, longestTask } from "@offhook/console/testing/page-checks";
import { request } from "@offhook/platform/testing/http";
import { beforeAll, describe, expect } from "vitest";
import { parse } from "yaml";
import { SAMPLES_FOLDER } from "../../scripts/shared/folders.ts";
import { type InlineScenario, replay, stage } from "../support/replay.ts";

const samples = readSampleLibrary(SAMPLES_FOLDER);

beforeAll(async () => {
  const { voiceUrl } = await stage();
  const call = await replay("open-incident", { url: voiceUrl });
  expect(call.failures).toEqual([]);
  expect((await replay(failing, { url: voiceUrl })).failures.length).toBeGreaterThan(5);
});

/** Expects much that does not happen. */
const failing: InlineScenario = {
  name: "expects-too-much",
  description: "A caller asks for an incident, and expects what cannot be.",
  caller: { turns: [{ say: "ask-status" }, { say: "thanks-goodbye" }, { stay_silent: "until_hang_up" }] },
  brain: [
    {
      heard: "what is the status of incident *",
      call: [{ tool: "incident_status", arguments: { id: "INC-1041" } }],
      say: "It is {{incident_status.status}}.",
    },
    { heard: "*", say: "Goodbye.", end_call: true },
  ],
  expect: {
    ended_by: "caller",
    ended_reason: "silence-timed-out",
    heard: ["status of incident", "never mind"],
    tool_calls: [{ tool: "incident_status", arguments: { id: "INC-7" } }],
    said: ["It is resolved for ever"],
    not_said: ["goodbye"],
    interruptions: 2,
    database: [{ table: "incidents", where: { id: "INC-1041" }, count: 3 }],
    requests: [{ twin: "postgres", where: { status: 500 }, count: 1 }],
  },
};

const twinsOf = async () => (await stage()).house.twins;
const callLink = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
const rowsOf = (page: Page, name: string) => page.getByRole("row").filter({ has: callLink(page, name) });
const slider = (page: Page) => page.getByRole("slider", { name: "Position in the call" });
const lines = (page: Page) => page.getByRole("list", { name: "Transcript" }).locator("> li");
const lineWith = (page: Page, text: string) => lines(page).filter({ hasText: text });
const audioOf = (page: Page) =>
  page.evaluate<{ currentTime: number; paused: boolean; src: string }>(
    "(({ currentTime, paused, src }) => ({ currentTime, paused, src }))(document.querySelector('audio'))",
  );

async function openCall(page: Page, name: string): Promise<void> {
  await callLink(page, name).first().click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await lines(page).first().waitFor();
}

test("a call is found in the list with what came of it, and one filter of the address leads to the failed ones", async ({
  visit,
}) => {
  const { page, open } = await visit(await twinsOf(), "/dev/calls");
  const row = rowsOf(page, "open-incident");
  await row.waitFor();
  const cells = await row.getByRole("cell").allInnerTexts();
  expect(cells.join(" | ")).toContain("passed");
  expect(cells.join(" | ")).toContain("who_is_on_call, open_incident");
  await page.getByRole("link", { name: "Failed" }).click();
  await callLink(page, "expects-too-much").waitFor();
  await expect.poll(() => callLink(page, "open-incident").count()).toBe(0);
  expect(new URL(page.url()).search).toBe("?show=failed");
  await open("/dev/calls?show=passed&scenario=expects-too-much");
  await page.getByText("No call is like that").waitFor();
  await open("/dev/calls?scenario=expects-too-much");
  await callLink(page, "expects-too-much").waitFor();
});

test("a call is heard: the sound that plays is what the caller sent", async ({ visit }) => {
  const twins = await twinsOf();
  const { page } = await visit(twins, "/dev/calls");
  await openCall(page, "open-incident");
  await page.getByLabel("Speed").selectOption("2");
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect.poll(async () => (await audioOf(page)).currentTime).toBeGreaterThan(1);
  expect(Number(await slider(page).getAttribute("aria-valuenow"))).toBeGreaterThan(500);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Pause" }).click();
  expect((await audioOf(page)).paused).toBe(true);
  const response = await fetch((await audioOf(page)).src, { headers: { "x-api-key": twins.apiKey } });
  const [caller] = readStereo(Buffer.from(await response.arrayBuffer()));
  for (const name of ["open-incident", "title-card-payments", "thanks-goodbye"]) {
    const { pcm } = samples.get(name);
    expect(caller.indexOf(Buffer.from(Int16Array.from(pcm).buffer)), name).toBeGreaterThan(0);
  }
});

const WAV_HEADER_BYTES = 44;

/** The two sides of a WAV, caller first, as bytes. */
function readStereo(wav: Buffer): [Buffer, Buffer] {
  expect(wav.toString("latin1", 36, 40)).toBe("data");
  const frames = Math.floor((wav.length - WAV_HEADER_BYTES) / 4);
  const sides: [Buffer, Buffer] = [Buffer.alloc(2 * frames), Buffer.alloc(2 * frames)];
  for (let frame = 0; frame < frames; frame++) {
    const at = WAV_HEADER_BYTES + 4 * frame;
    wav.copy(sides[0], 2 * frame, at, at + 2);
    wav.copy(sides[1], 2 * frame, at + 2, at + 4);
  }
  return sides;
}

test("a click in the transcript, a block and the keys seek; the address keeps the moment", async ({
  visit,
}) => {
  const { page } = await visit(await twinsOf(), "/dev/calls");
  await openCall(page, "open-incident");
  const positionOf = async () => Number(await slider(page).getAttribute("aria-valuenow"));
  await lineWith(page, "error page").getByText("error page").first().click();
  await expect.poll(positionOf).toBeGreaterThan(3_000);
  const atLine = await positionOf();
  await expect.poll(() => lineWith(page, "error page").first().getAttribute("aria-current")).toBe("true");
  await slider(page).focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(positionOf).toBe(atLine + 1_000);
  expect(await slider(page).getAttribute("aria-valuetext")).toMatch(/^0:\d\d\.\d of 0:\d\d\.\d, caller$/);
  await page.keyboard.press("End");
  await expect.poll(positionOf).toBe(Number(await slider(page).getAttribute("aria-valuemax")));
  await page.keyboard.press("Home");
  await expect.poll(positionOf).toBe(0);
  await page.keyboard.press("Tab");
  const blocks = page.getByRole("group", { name: "Turns and tools" });
  for (let step = 0; step < 2; step++) await page.keyboard.press("ArrowRight");
  expect(await blocks.locator(":focus").getAttribute("aria-label")).toContain("who_is_on_call");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Statements and searches" }).waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("t")).toMatch(/^\d{4,}$/);
  const before = await positionOf();
  await page.reload();
  await lines(page).first().waitFor();
  await expect.poll(positionOf).toBe(before);
  await page.getByRole("heading", { name: "Statements and searches" }).waitFor();
});

test("a tool opens to what it was asked, what it caused, and the rows that changed", async ({ visit }) => {
  const { page } = await visit(await twinsOf(), "/dev/calls");
  await openCall(page, "open-incident");
  const tool = lines(page).filter({ has: page.getByRole("button", { name: "open_incident" }) });
  await tool.getByRole("button", { name: "open_incident" }).click();
  const part = (name: string) =>
    tool.locator("section").filter({ has: page.getByRole("heading", { name, exact: true }) });
  await part("Arguments").getByText('"severity": 2').waitFor();
  await part("Result").getByText('"status": "open"').waitFor();
  const statement = part("Statements and searches").getByRole("button", { name: /INSERT INTO incidents/ });
  await statement.click();
  await part("Statements and searches").getByText('"statement":').waitFor();
  const row = part("Rows that changed").getByRole("link", { name: "postgres.incidents" });
  expect(decodeURIComponent((await row.getAttribute("href")) ?? "")).toMatch(
    /\/world\/postgres\/incidents\?row=\["INC-\d+"\]$/,
  );
  await part("Rows that changed").getByText("Customers see an error page").waitFor();
  await part("Webhook")
    .getByText(/^POST http.*\/tool$/)
    .waitFor();
  await part("Webhook").getByText("200", { exact: true }).waitFor();
  await part("Reported to the engine").getByText("agent_tool_call of agent").waitFor();
  await part("Statements and searches").getByRole("link", { name: "in the journal" }).click();
  await page
    .getByRole("region", { name: "The request" })
    .getByText("INSERT INTO incidents")
    .first()
    .waitFor();
  await page.getByRole("link", { name: "Show the call" }).click();
  await page.getByRole("heading", { level: 1, name: "open-incident" }).waitFor();
  const duration = await page
    .locator("dt", { hasText: /^Duration$/ })
    .locator("+ dd")
    .innerText();
  expect(await page.locator(".call-player-clock").innerText()).toBe(
    `0:00.0 / 0:${duration.replace(" s", "").padStart(4, "0")}`,
  );
});

test("of two calls at once, each says that what its tool caused may be the other's", async ({ visit }) => {
  const { voiceUrl } = await stage();
  await Promise.all([replay("ask-status", { url: voiceUrl }), replay("ask-status", { url: voiceUrl })]);
  const { page } = await visit(await twinsOf(), "/dev/calls?scenario=ask-status");
  await openCall(page, "ask-status");
  await lines(page).getByRole("button", { name: "incident_status" }).click();
  await page.getByText("At the same time another call ran: some of this may be theirs.").waitFor();
});

test("each failed expectation is said in plain words and leads to what it is about", async ({ visit }) => {
  const { page } = await visit(await twinsOf(), "/dev/calls?show=failed");
  await openCall(page, "expects-too-much");
  const failures = page.getByRole("region", { name: "Failed expectations" });
  const words = await failures.getByRole("listitem").allInnerTexts();
  expect(words).toHaveLength(9);
  for (const text of words) expect(text).toMatch(/^(The|incident_status|postgres) .* (should|had|was) /);
  await failures.getByRole("link", { name: "Show the tool call" }).click();
  await lines(page).getByRole("heading", { name: "Arguments" }).waitFor();
  const tool = lines(page).filter({ has: page.getByRole("button", { name: "incident_status" }) });
  await expect.poll(() => tool.getAttribute("aria-current")).toBe("true");
  await tool.getByText("not as expected").waitFor();
  expect(await page.title()).toBe("expects-too-much – offhook console");
  expect(await tool.locator("pre", { hasText: "expected" }).innerText()).toContain(
    '"id": "INC-1041" ← expected "INC-7"',
  );
  const item = failures.getByRole("listitem").filter({ hasText: "should not have said “goodbye”" });
  await item.getByRole("link").click();
  await expect.poll(() => lineWith(page, "Goodbye.").last().getAttribute("aria-current")).toBe("true");
  expect(
    await failures.getByRole("link", { name: "Show the rows of incidents" }).getAttribute("href"),
  ).toContain("/world/postgres/incidents?where.id=INC-1041");
});

test("a running call fills in while one looks at it", async ({ visit }) => {
  const { page } = await visit(await twinsOf(), "/dev/calls?show=running");
  const { voiceUrl } = await stage();
  const placing = replay("ask-status", { url: voiceUrl, speed: 2 });
  await callLink(page, "ask-status").click();
  await page.getByText("running", { exact: true }).waitFor();
  await lineWith(page, "Incident hotline").waitFor();
  const lengthOf = async () => Number(await slider(page).getAttribute("aria-valuemax"));
  const early = await lengthOf();
  await lines(page).getByRole("button", { name: "incident_status" }).waitFor();
  await expect.poll(lengthOf).toBeGreaterThan(early);
  const call = await placing;
  await page.getByText("passed", { exact: true }).waitFor();
  expect(await lines(page).count()).toBeGreaterThanOrEqual(call.heard.length + call.said.length);
});

test("the list follows ten calls at once", async ({ visit }) => {
  const { page } = await visit(await twinsOf(), "/dev/calls");
  const { voiceUrl } = await stage();
  const before = await callLink(page, "caller-silent").count();
  const placing = Array.from({ length: 10 }, () => replay("caller-silent", { url: voiceUrl, speed: 4 }));
  await expect.poll(() => callLink(page, "caller-silent").count()).toBe(before + 10);
  expect(await page.getByRole("cell", { name: "running" }).count()).toBeGreaterThan(0);
  await Promise.all(placing);
  const rows = rowsOf(page, "caller-silent");
  await expect.poll(() => rows.filter({ hasText: /passed|failed/ }).count()).toBe(before + 10);
});

describe("copied as a scenario, a call is placed again", () => {
  test("with the brain and the rows of the scenario it came from", async ({ visit }) => {
    const { page, context } = await visit(await twinsOf(), "/dev/calls");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await openCall(page, "open-incident");
    const text = await copyScenario(page);
    expect(parse(text)).toMatchObject({
      name: "open-incident-again",
      brain: [{ say_on_error: "I cannot tell who is on call. What is going wrong?" }, {}, {}, {}],
      expect: { tool_calls: [{ tool: "who_is_on_call" }, { result: { service: "checkout", severity: 2 } }] },
    });
    expect(await placeAgain(text)).toEqual([]);
  });

  test("from what was said, where its scenario is not known", async ({ visit }) => {
    const { voiceUrl } = await stage();
    const call = await replay(awkward, { url: voiceUrl });
    expect(call.failures).toEqual([]);
    const { page, context } = await visit(await twinsOf(), "/dev/calls");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await openCall(page, "awkward-words");
    const text = await copyScenario(page);
    expect(parse(text)).toMatchObject(again);
    expect(await placeAgain(text)).toEqual([]);
  });

  test("from what was heard, where its caller reported nothing", async ({ visit }) => {
    const twins = await twinsOf();
    const { voiceUrl, sandbox } = await stage();
    const { simulationId = "" } = await replay(awkward, { url: voiceUrl });
    const report = new URLSearchParams({
      entity_type: "events",
      simulation_id: simulationId,
      event_type: "call_report",
    });
    await request("DELETE", `${twins.baseUrl}/c/dev/engine/sim/data?${report}`, {
      headers: { "x-api-key": twins.apiKey },
    });
    expect(await sandbox.events(simulationId)).toHaveLength(1);
    const [row] = await sandbox.calls(simulationId);
    const { page, context } = await visit(twins, `/dev/calls/${row?.id}`);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await lines(page).first().waitFor();
    const text = await copyScenario(page);
    expect(parse(text)).toMatchObject(again);
    expect(await placeAgain(text)).toEqual([]);
  });
});

/** Says what YAML gives a meaning to. */
const awkward: InlineScenario = {
  ...failing,
  name: "awkward-words",
  // Longer than what is kept with a simulation.
  description: "long ".repeat(20_000),
  brain: [
    {
      heard: "what is the status of incident *",
      call: [{ tool: "incident_status", arguments: { id: "INC-1041" } }],
      say: 'yes: it\'s "fine" # not {a: [comment]}, 50%',
    },
    { heard: "*", say: "- Goodbye.", end_call: true },
  ],
  expect: {},
};

/** What of it is in a copy. */
const again = {
  caller: { turns: [{ say: "ask-status" }, { say: "thanks-goodbye" }, { stay_silent: "until_hang_up" }] },
  brain: [
    { call: [{ tool: "incident_status", arguments: { id: "INC-1041" } }] },
    { end_call: true },
    { heard: "*" },
  ],
  expect: { ended_by: "callee", tool_calls: [{ tool: "incident_status", result: { id: "INC-1041" } }] },
};

async function copyScenario(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Copy the call as heard" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  return page.evaluate("navigator.clipboard.readText()");
}

/** @returns the failed expectations of the second call */
async function placeAgain(text: string): Promise<string[]> {
  const { name } = parse(text) as InlineScenario;
  const folder = mkdtempSync(join(tmpdir(), "offhook-again-"));
  try {
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, text);
    readScenario(file, samples);
    return (await replay(parse(text) as InlineScenario, { url: (await stage()).voiceUrl })).failures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ten minutes of conversation: the caller asks again and again, and hears a long answer each time. */
const long: InlineScenario = {
  name: "ten-minutes",
  description: "A caller who asks for ten minutes.",
  caller: { turns: Array.from({ length: 100 }, () => ({ say: "ask-status" })) },
  brain: [
    {
      heard: "*",
      call: [{ tool: "incident_status", arguments: { id: "INC-1041" } }],
      say: "That incident is {{incident_status.status}}, its service is {{incident_status.service}}, and it has severity {{incident_status.severity}}.",
    },
  ],
};

test("a call of ten minutes stays fluent: no task over 100 ms", async ({ visit }) => {
  const { voiceUrl } = await stage();
  const { report } = await replay(long, { url: voiceUrl, speed: 30 });
  expect(report.durationMs).toBeGreaterThan(9 * 60_000);
  const { page, open } = await visit(await twinsOf(), "/dev/calls");
  await openCall(page, "ten-minutes");
  const { pathname } = new URL(page.url());
  const longestMs = await longestTask(page, async () => {
    await open(pathname.slice("/console".length));
    await useLongCall(page);
  });
  expect(longestMs).toBeLessThanOrEqual(100);
});

async function useLongCall(page: Page): Promise<void> {
  await lines(page).nth(100).waitFor();
  for (const key of ["+", "+", "+", "n", "n", "End"]) await page.keyboard.press(key);
  await slider(page).focus();
  for (const key of ["Home", "PageUp", "PageUp", "ArrowRight"]) await page.keyboard.press(key);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect.poll(async () => (await audioOf(page)).currentTime).toBeGreaterThan(21.5);
  await lines(page).getByRole("button", { name: "incident_status" }).nth(40).click();
  await lines(page).getByRole("heading", { name: "Arguments" }).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
}

test("nothing keeps anybody from using a call's page, light or dark, narrow or wide", async ({ visit }) => {
  const { page } = await visit(await twinsOf(), "/dev/calls?show=failed");
  await openCall(page, "expects-too-much");
  await lines(page).getByRole("button", { name: "incident_status" }).click();
  await page
    .getByRole("button", { name: /SELECT/ })
    .first()
    .click();
  await expectUsable(page, "call");
});
