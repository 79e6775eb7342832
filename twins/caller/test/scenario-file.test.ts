import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { SAMPLES_FOLDER } from "@offhook/audio/testing/samples";
import { afterAll, describe, expect, test } from "vitest";
import { findScenarioFiles, readScenario } from "../scenario-file.ts";

const samples = readSampleLibrary(SAMPLES_FOLDER);
const folder = mkdtempSync(join(tmpdir(), "offhook-scenarios-"));
/** A folder of two scenarios. */
const SCENARIOS = join(folder, "scenarios");
mkdirSync(SCENARIOS);
for (const name of ["ask-status", "open-incident"]) writeFileSync(join(SCENARIOS, `${name}.yaml`), "");
afterAll(() => rmSync(folder, { recursive: true }));

function read(yaml: string) {
  const file = join(folder, "broken.yaml");
  writeFileSync(file, yaml);
  return readScenario(file, samples);
}

/** A scenario whose line 4 on is given. */
const withTurns = (...lines: string[]) =>
  [
    "name: broken",
    "description: For a test.",
    "caller:",
    "  turns:",
    ...lines,
    "brain:",
    '  - { heard: "*", say: Yes. }',
  ].join("\n");

test("omitted members have their defaults", () => {
  const scenario = read(withTurns("    - say: say-again"));
  expect(scenario.expect).toEqual({ outcome: "completed" });
  expect(scenario.plan).toMatchObject({ waitForCalleeFirst: true, steps: [{ type: "say", afterMs: 200 }] });
  expect(scenario.framing).toBeUndefined();
});

describe("problems name file, line and what would be right", () => {
  test.each([
    ["no YAML", "name: [", /broken\.yaml:1: /],
    [
      "a sample that does not exist",
      withTurns("    - say: open-incident", "    - say: shout"),
      /yaml:6: caller\.turns\[1\]\.say: there is no sample "shout"; there are: .*open-incident/,
    ],
    [
      "an unknown member",
      withTurns("    - say: say-again", "      loudly: true"),
      /yaml:6: caller\.turns\[0\]\.loudly: is not known here; known are say, after_ms/,
    ],
    [
      "two actions in one turn",
      withTurns("    - say: say-again", "      hang_up: at_once"),
      /yaml:5: caller\.turns\[0\]: has exactly one of say, stay_silent and hang_up; found say and hang_up/,
    ],
    ["a turn that does nothing", withTurns("    - after_ms: 3"), /yaml:5: .*found none/],
    [
      "an interruption without words",
      withTurns("    - stay_silent: 100", "      interrupt_after_ms: 5"),
      /yaml:6: .*interrupt_after_ms: belongs to say/,
    ],
    [
      "another name than the file's",
      withTurns("    - say: say-again").replace("name: broken", "name: whole"),
      /yaml:1: name: "whole" should be the file's name, broken/,
    ],
    [
      "an outcome that does not exist",
      `${withTurns("    - say: say-again")}\nexpect:\n  outcome: fine`,
      /yaml:9: expect\.outcome: .*completed/,
    ],
    ["a missing part", "name: broken\ndescription: x\n", /caller/],
  ])("%s", (_what, yaml, message) => {
    expect(() => read(yaml)).toThrow(message);
  });

  test("all of it at once", () => {
    expect(() => read(withTurns("    - say: shout", "    - say: whisper"))).toThrow(/shout[^\n]*\n.*whisper/);
  });
});

test("scenarios are found by name, by path, by folder, or all", () => {
  const file = join(SCENARIOS, "ask-status.yaml");
  expect(findScenarioFiles(["ask-status"], SCENARIOS)).toEqual([file]);
  expect(findScenarioFiles([file], SCENARIOS)).toEqual([file]);
  expect(findScenarioFiles([SCENARIOS], SCENARIOS)).toEqual(findScenarioFiles(["all"], SCENARIOS));
  expect(() => findScenarioFiles(["nope"], SCENARIOS)).toThrow(
    /no scenario "nope"; there are: all, .*open-incident/,
  );
});
