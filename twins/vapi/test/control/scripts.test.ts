/** `/sim/scripts`. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SAMPLES_FOLDER } from "@offhook/audio/testing/samples";
import { afterEach, beforeEach, expect, test } from "vitest";
import voiceRuntimeTwin from "../../index.ts";
import { startDefinition, type VoiceRuntime } from "../../testing/voice-runtime.ts";

const SCRIPT = `
brain:
  - heard: ["yes *", who is on call for search]
    say: Right.
  - heard: "*"
    say: Sorry?
  - heard: "* goodbye"
    say: Never said, the rule above it matches.
`;

let folder: string;
let scriptFile: string;
let runtime: VoiceRuntime;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "offhook-scripts-route-"));
  scriptFile = join(folder, "script.yaml");
  writeFileSync(scriptFile, SCRIPT);
  runtime = await startDefinition(voiceRuntimeTwin, {
    config: { script: scriptFile, recognition: { provider: "samples", samples: SAMPLES_FOLDER } },
  });
});
afterEach(async () => {
  await runtime.stop();
  rmSync(folder, { recursive: true });
});

function put(id: string, file: string) {
  return fetch(`${runtime.controlUrl}/sim/scripts/${encodeURIComponent(id)}`, {
    method: "PUT",
    headers: { "x-api-key": runtime.apiKey, "content-type": "application/yaml" },
    body: file,
  });
}

test("a script is shown with what it names, and with the samples that a rule answers by name", async () => {
  const rules = [{ heard: "* goodbye", end_call: true }];
  await runtime.control("POST", "/data", { data: { scripts: [{ simulation_id: "a-call", rules }] } });
  expect((await runtime.control("GET", "/scripts")).body).toEqual({
    scripts: [
      {
        simulation_id: "*",
        heard: ["yes *", "who is on call for search", "* goodbye"],
        samples: ["yes-please"],
      },
      { simulation_id: "a-call", heard: ["* goodbye"], samples: ["thanks-goodbye"] },
    ],
    total: 2,
    limit: 100,
    offset: 0,
  });
  expect((await runtime.control("GET", "/scripts?offset=1")).body.scripts).toMatchObject([
    { simulation_id: "a-call" },
  ]);
});

test("an edited script file is shown as it is now", async () => {
  writeFileSync(scriptFile, 'brain: [{ heard: "* goodbye", end_call: true }]\n');
  expect((await runtime.control("GET", "/scripts")).body.scripts).toMatchObject([
    { heard: ["* goodbye"], samples: ["thanks-goodbye"] },
  ]);
});

test("a scenario file becomes the script of a simulation, and replaces the one before", async () => {
  const first = await put("of/a call", SCRIPT);
  expect([first.status, await first.json()]).toMatchObject([201, { samples: ["yes-please"] }]);
  const second = await put("of/a call", "name: x\nbrain: [{ heard: thank you *, say: Bye. }]\n");
  expect([second.status, await second.json()]).toMatchObject([200, { samples: ["thanks-goodbye"] }]);
  const { rows } = (await runtime.control("GET", "/data?entity_type=scripts&simulation_id=of/a%20call")).body;
  expect(rows).toMatchObject([{ rules: [{ heard: "thank you *", say: "Bye." }] }]);
});

test.each([
  ["no YAML", "brain: [", "no YAML file", undefined],
  ["no brain", "name: x", "see problems", { field: "brain" }],
  ["a rule that does nothing", "brain: [{ heard: yes }]", "see problems", { field: "brain.0" }],
  ["too large a file", SCRIPT.repeat(4_000), "bytes", undefined],
])("%s is refused, and nothing is kept", async (_what, file, reason, problem) => {
  const answer = await put("a-call", file);
  const { error } = (await answer.json()) as { error: { message: string; problems?: object[] } };
  expect(answer.ok).toBe(false);
  expect(error.message).toContain(reason);
  expect(error.problems?.[0]).toEqual(problem && expect.objectContaining(problem));
  expect((await runtime.control("GET", "/scripts")).body.total).toBe(1);
});
