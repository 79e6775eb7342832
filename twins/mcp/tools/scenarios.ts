/** Scenarios: which there are, running one, and the verdict on a run. */
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { wasHeldUp } from "@offhook/caller/pacer";
import type { ScenarioEvent, ScenarioRun } from "@offhook/caller/run-scenario";
import { listScenarioFiles, readScenario, type Scenario } from "@offhook/caller/scenario-file";
import { z } from "zod";
import { anyObject, paged, paging } from "../arguments.ts";
import { excerptOf, nextOffset, takeFitting } from "../bounds.ts";
import { ControlPlanes, type Project, ToolError } from "../project.ts";
import { type Report, readReport } from "../reports.ts";
import { defineTool } from "../tool.ts";

const MAX_SPEED = 50;
const DEFAULT_SPEED = 10;
const MAX_RESULT_CHARACTERS = 2_000;

const verdict = {
  scenario: z.string().nullable(),
  passed: z.boolean(),
  failures: z.array(z.string()).describe("What its expect asks for and is not so"),
  unchecked: z.array(z.string()).describe("Expectations that could not be checked, and why"),
  outcome: z.string().nullable().describe("completed, or how the call went wrong"),
  reason: z.string().nullable().describe("Why the call ended, in words"),
  ended_by: z.string().nullable(),
  duration_ms: z.number().nullable().describe("Audio time"),
  setup_ms: z.number().nullable().describe("Until the first audio; null: nobody answered"),
  turns: z.array(anyObject).describe("What either side said, with the caller's clock"),
  call_id: z.string().nullable().describe("For read_call"),
  simulation_id: z.string().nullable().describe("For read_verdict, later"),
};

export const scenarioTools = [
  defineTool({
    name: "list_scenarios",
    title: "List the scenarios",
    description:
      "The calls that can be placed: what each caller wants, and which tools are expected to be called. Files that cannot be used say why.",
    kind: "read",
    input: paging,
    output: {
      scenarios: z.array(
        z.object({
          name: z.string(),
          file: z.string(),
          description: z.string().nullable(),
          tool_calls: z.array(z.string()).describe("Tools that its expect names"),
          problem: z.string().nullable().describe("Why it cannot be run"),
        }),
      ),
      ...paged,
    },
    run({ limit, offset }, { project }) {
      const files = [...listScenarioFiles(project.scenariosFolder)];
      const samples = readSampleLibrary(project.samplesFolder);
      const scenarios = files.slice(offset, offset + limit).map(([name, file]) => {
        try {
          const { description, expect } = readScenario(file, samples);
          const tool_calls = (expect.tool_calls ?? []).map(({ tool }) => tool);
          return { name, file, description, tool_calls, problem: null };
        } catch (error) {
          return { name, file, description: null, tool_calls: [], problem: messageOf(error) };
        }
      });
      const shown = takeFitting(scenarios);
      const total = files.length;
      return { scenarios: shown, total, next_offset: nextOffset(offset, shown.length, total) };
    },
  }),

  defineTool({
    name: "run_scenario",
    title: "Run a scenario",
    description:
      "Places the call of a scenario: a simulated caller dials the running agent, speaks, listens, and judges. Answers the verdict, the failures, what was said, the tools with their arguments and results, and the call's address in the console. Use it after each change of the agent, and read_call for what lies behind a failure. Takes seconds; progress is notified.",
    kind: "add",
    input: {
      scenario: z.string().min(1).describe("A name of list_scenarios"),
      speed: z
        .number()
        .min(0.1)
        .max(MAX_SPEED)
        .default(DEFAULT_SPEED)
        .describe("Times faster than real time; what is said is the same"),
      framing: z
        .enum(["binary", "json"])
        .optional()
        .describe("Of the voice channel; default: the scenario's"),
    },
    output: {
      ...verdict,
      tool_calls: z.array(z.object({ name: z.string(), arguments: z.unknown(), result: z.unknown() })),
      warnings: z.array(z.string()),
      console_url: z
        .string()
        .nullable()
        .describe("Where a browser that is signed in shows and plays the call"),
    },
    async run({ scenario: name, speed, framing }, { project, runs, report, signal }) {
      const scenario = find(project, name);
      const onEvent = (event: ScenarioEvent) => {
        const told = tell(event);
        if (told !== undefined) report(told);
      };
      const options = { speed, onEvent, signal, ...(framing === undefined ? {} : { framing }) };
      const { run, consoleUrl } = await runs.place(scenario, options, (reason) =>
        report(`waiting for the agent: ${reason}`),
      );
      return { ...describe(run), console_url: consoleUrl };
    },
  }),

  defineTool({
    name: "read_verdict",
    title: "Read the verdict on a run",
    description:
      "How a call was judged: by its simulation, or the latest run (of one scenario). Use it for runs of others: of npm run dial, or of an earlier session.",
    kind: "read",
    input: {
      simulation_id: z.string().min(1).optional(),
      scenario: z.string().min(1).optional().describe("The latest run of this one"),
    },
    output: verdict,
    async run({ simulation_id, scenario }, { project }) {
      const planes = new ControlPlanes(project);
      const report = await readReport(planes, { simulation_id, scenario });
      if (report === undefined) {
        const what = simulation_id ?? (scenario === undefined ? "any run" : `any run of ${scenario}`);
        throw new ToolError(
          `there is no verdict on ${what}: run_scenario makes one, list_calls has calls without; a reset takes verdicts away`,
        );
      }
      return verdictOf(report);
    },
  }),
];

/** @throws ScenarioError listing the known scenarios, or the problems of this one */
function find({ scenariosFolder, samplesFolder }: Project, name: string): Scenario {
  const known = listScenarioFiles(scenariosFolder);
  const file = known.get(name);
  if (file === undefined) {
    throw new ToolError(`there is no scenario "${name}"; there are ${[...known.keys()].join(", ")}`);
  }
  return readScenario(file, readSampleLibrary(samplesFolder));
}

function describe(run: ScenarioRun) {
  const { report, scenario, passed, failures, unchecked, runtime } = run;
  const { outcome, reason, endedBy, durationMs, setupMs, pacing, closeCode } = report;
  const warnings = [
    ...(wasHeldUp(pacing)
      ? ["this machine was too busy for the speed: trust no response time, or lower speed"]
      : []),
    ...(outcome === "callee_no_answer" && closeCode === undefined
      ? ["nothing answered at the agent's address: is it running? npm run dev starts one"]
      : []),
  ];
  return {
    scenario: scenario.name,
    passed,
    failures,
    unchecked,
    outcome,
    reason,
    ended_by: endedBy,
    duration_ms: durationMs,
    setup_ms: setupMs,
    turns: takeFitting(
      run.turns.map(({ speaker, text, startMs, endMs, responseMs }) => ({
        speaker,
        text,
        start_ms: startMs,
        end_ms: endMs,
        response_ms: responseMs,
      })),
    ),
    tool_calls: takeFitting(
      run.toolCalls.map(({ name, arguments: given, result }) => ({
        name,
        arguments: excerptOf(given, MAX_RESULT_CHARACTERS),
        result: excerptOf(result, MAX_RESULT_CHARACTERS),
      })),
    ),
    warnings,
    call_id: runtime?.call.id ?? null,
    simulation_id: run.simulationId ?? null,
  };
}

function verdictOf({ simulationId, callId, data }: Report) {
  const { scenario, passed, failures, unchecked, outcome, reason, ended_by, duration_ms, setup_ms, turns } =
    data;
  return {
    ...{ scenario, passed, failures, unchecked, outcome, reason, ended_by, duration_ms, setup_ms },
    turns: takeFitting(turns),
    call_id: callId,
    simulation_id: simulationId,
  };
}

/** A line of progress; `undefined` for what nobody waits for. */
function tell(event: ScenarioEvent): string | undefined {
  switch (event.type) {
    case "answered":
      return `answered after ${event.setupMs} ms`;
    case "caller-speaks":
      return `caller: ${event.text}`;
    case "message": {
      const { role, name, text } = event.message;
      if (role === "tool_call") return `tool ${name}`;
      return role === "assistant" ? `agent: ${text}` : undefined;
    }
    default:
      return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
