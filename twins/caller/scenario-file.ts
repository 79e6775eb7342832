/** Reads scenario files; problems name file, line and what would be right. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { SampleLibrary } from "@offhook/audio/sample-library";
import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import type { Framing } from "./line.ts";
import { type Expectations, type ScenarioFile, scenarioSchema, type TurnDescription } from "./scenario.ts";
import type { CallerPlan, CallerStep } from "./steps.ts";

export interface Scenario {
  name: string;
  description: string;
  /** Path of its file. */
  file: string;
  /** The file's text. */
  text: string;
  /** The framing it requires, if any. */
  framing: Framing | undefined;
  plan: CallerPlan;
  /** Rows to add before the call, by service and table. */
  given: ScenarioFile["given"];
  /** Faults to arm before the call, by service. */
  faults: ScenarioFile["faults"];
  /** Rules of the scripted brain, as they stand in the file. */
  brain: Record<string, unknown>[];
  expect: Expectations;
}

/** A scenario that cannot be used; one line per problem, each with file and line. */
export class ScenarioError extends Error {
  override name = "ScenarioError";
}

const EXTENSION = ".yaml";
const DEFAULT_HESITATION_MS = 200;

/** The scenario files of a folder, by name. @throws ScenarioError when there is no such folder */
export function listScenarioFiles(folder: string): Map<string, string> {
  try {
    const files = readdirSync(folder).filter((file) => file.endsWith(EXTENSION));
    return new Map(files.sort().map((file) => [basename(file, EXTENSION), join(folder, file)]));
  } catch (error) {
    throw new ScenarioError(`cannot read the folder ${folder}: ${messageOf(error)}`);
  }
}

/**
 * Name of the first scenario, in the order of the files' names.
 * @throws ScenarioError when there is none
 */
export function firstScenario(folder: string): string {
  const [name] = listScenarioFiles(folder).keys();
  if (name === undefined) throw new ScenarioError(`there is no scenario in ${folder}: add a .yaml file`);
  return name;
}

/**
 * Resolves scenarios: names of files in `folder`, paths of files or folders, or `all`.
 * @throws ScenarioError listing the known scenarios
 */
export function findScenarioFiles(wanted: readonly string[], folder: string): string[] {
  const known = listScenarioFiles(folder);
  return wanted.flatMap((one) => {
    if (one === "all") return [...known.values()];
    const byName = known.get(one);
    if (byName !== undefined) return [byName];
    const found = statSync(one, { throwIfNoEntry: false });
    if (found?.isDirectory()) return [...listScenarioFiles(one).values()];
    if (found?.isFile()) return [one];
    throw new ScenarioError(
      `there is no scenario "${one}"; there are: all, ${[...known.keys()].join(", ")} (or give a path)`,
    );
  });
}

/** @throws ScenarioError listing every problem */
export function readScenario(file: string, samples: SampleLibrary): Scenario {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ScenarioError(`cannot read ${file}: ${messageOf(error)}`);
  }
  return parseScenario({ file, text }, samples);
}

/**
 * Reads the text of a scenario that is not, or no longer, in a file.
 * @param source.file its name, for messages; the scenario is named after it
 * @throws ScenarioError listing every problem
 */
export function parseScenario(
  { file, text }: Pick<Scenario, "file" | "text">,
  samples: SampleLibrary,
): Scenario {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (line: number, problem: string) => `${file}:${line}: ${problem}`;
  if (document.errors.length > 0) {
    throw new ScenarioError(
      document.errors.map(({ pos, message }) => at(lines.linePos(pos[0]).line, message)).join("\n"),
    );
  }
  const parsed = scenarioSchema.safeParse(document.toJS());
  const problems = parsed.success
    ? problemsOf(parsed.data, file, samples)
    : parsed.error.issues.flatMap(problemsOfIssue);
  if (!parsed.success || problems.length > 0) {
    throw new ScenarioError(
      problems
        .map(({ path, message }) => at(lineOf(document, lines, path), `${formatPath(path)}${message}`))
        .join("\n"),
    );
  }
  return scenarioOf(parsed.data, { file, text }, samples);
}

function scenarioOf(
  content: ScenarioFile,
  source: Pick<Scenario, "file" | "text">,
  samples: SampleLibrary,
): Scenario {
  const { name, description, caller, given, faults, brain, expect } = content;
  return {
    name,
    description,
    ...source,
    framing: caller.protocol,
    plan: {
      waitForCalleeFirst: caller.wait_for_callee_first,
      steps: caller.turns.map((turn) => stepOf(turn, samples)),
    },
    given,
    faults,
    brain,
    expect,
  };
}

function stepOf(turn: TurnDescription, samples: SampleLibrary): CallerStep {
  if (turn.say !== undefined) {
    return {
      type: "say",
      utterance: samples.get(turn.say),
      afterMs: turn.after_ms ?? DEFAULT_HESITATION_MS,
      ...(turn.interrupt_after_ms === undefined ? {} : { interruptAfterMs: turn.interrupt_after_ms }),
      ...(turn.hang_up_after_ms === undefined ? {} : { hangUpAfterMs: turn.hang_up_after_ms }),
    };
  }
  if (turn.hang_up !== undefined) {
    return { type: "hang-up", when: turn.hang_up === "at_once" ? "at-once" : "after-reply" };
  }
  if (typeof turn.stay_silent === "number") return { type: "stay-silent", forMs: turn.stay_silent };
  return { type: "await-hang-up" };
}

interface Problem {
  path: PropertyKey[];
  message: string;
}

/** Problems that the schema cannot find: unknown samples, and a name that differs from the file's. */
function problemsOf(content: ScenarioFile, file: string, samples: SampleLibrary): Problem[] {
  const known = new Set(samples.all().map((sample) => sample.name));
  const problems: Problem[] = content.caller.turns.flatMap(({ say }, index) => {
    if (say === undefined || known.has(say)) return [];
    const message = `there is no sample "${say}"; there are: ${[...known].join(", ")}`;
    return [{ path: ["caller", "turns", index, "say"], message }];
  });
  if (content.name !== basename(file, EXTENSION)) {
    problems.push({
      path: ["name"],
      message: `"${content.name}" should be the file's name, ${basename(file, EXTENSION)}`,
    });
  }
  return problems;
}

function problemsOfIssue(issue: z.core.$ZodIssue): Problem[] {
  if (issue.code !== "unrecognized_keys") return [{ path: issue.path, message: issue.message }];
  const known = knownKeys(issue.path);
  return issue.keys.map((key) => ({
    path: [...issue.path, key],
    message: known === undefined ? "is not known here" : `is not known here; known are ${known.join(", ")}`,
  }));
}

/** The keys that the schema allows at a path; `undefined` when it has no object there. */
function knownKeys(path: readonly PropertyKey[]): string[] | undefined {
  let here: unknown = scenarioSchema;
  for (const step of path) {
    here = unwrap(here);
    if (!isRecord(here)) return undefined;
    if (isRecord(here.shape)) here = here.shape[String(step)];
    else if (here.element !== undefined) here = here.element;
  }
  here = unwrap(here);
  return isRecord(here) && isRecord(here.shape) ? Object.keys(here.shape) : undefined;
}

/** The schema inside optional and default wrappers. */
function unwrap(schema: unknown): unknown {
  let here = schema;
  while (isRecord(here) && isRecord(here.def) && here.def.innerType !== undefined) here = here.def.innerType;
  return here;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Line of the innermost node of a path that exists in the file. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function formatPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "";
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  return `${text.replace(/^\./, "")}: `;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
