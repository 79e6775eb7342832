/**
 * Faults that are planted in a copy of the agent are located by the answers of the MCP server alone: which tool, what was
 * asked, what came back. `PLANTED=all` plants all of them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createSandbox, type OwnSandbox } from "@offhook/caller/own-sandbox";
import { Watched } from "@offhook/platform/testing/watched";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { PROJECT } from "../../../scripts/shared/folders.ts";
import { type House, startHouse } from "../../../scripts/shared/house.ts";
import { McpClient } from "./mcp-client.ts";

/** A stall of a busy machine is that many times longer in the call. */
const SPEED = 10;
/** The tool that hangs is given up sooner than by default. */
const TOOL_TIMEOUT_MS = "2000";

const runAnswer = z.looseObject({ passed: z.boolean(), failures: z.array(z.string()), call_id: z.string() });
const entry = z.looseObject({
  kind: z.string(),
  name: z.string().optional(),
  requests: z.array(z.looseObject({ twin: z.string(), seq: z.number(), path: z.string() })).default([]),
});
const callAnswer = z.object({ entries: z.array(entry) });
const requestAnswer = z.object({ request: z.looseObject({ body: z.unknown(), response: z.unknown() }) });
const rowsAnswer = z.object({ rows: z.array(z.record(z.string(), z.unknown())) });

interface Planted {
  what: string;
  file: string;
  /** The line's part that is replaced, and by what. */
  line: [right: string, wrong: string];
  scenario: string;
  /** Finds the evidence. */
  locate(mcp: McpClient, run: z.output<typeof runAnswer>): Promise<void>;
  /** Tool calls that suffice, the run included. */
  toolCalls: number;
}

const readTool = async (mcp: McpClient, { call_id, failures }: z.output<typeof runAnswer>, name: string) => {
  const { entries } = await mcp.call("read_call", { call_id }, callAnswer);
  const tool = entries.find((each) => each.name === name);
  expect(tool, `${name}; the run failed with: ${failures.join("; ")}`).toBeDefined();
  return entry.parse(tool);
};
const readRequest = (mcp: McpClient, { requests: [first] }: z.output<typeof entry>) =>
  mcp.call("read_request", { twin: first?.twin, seq: first?.seq }, requestAnswer);

const planted: readonly Planted[] = [
  {
    what: "who_is_on_call asks the wrong column",
    file: "tools/who-is-on-call.ts",
    line: ["WHERE on_call.service = lower($1)", "WHERE engineers.name = lower($1)"],
    scenario: "open-incident",
    async locate(mcp, run) {
      expect(run.failures.join()).toContain("who_is_on_call");
      const tool = await readTool(mcp, run, "who_is_on_call");
      expect(tool).toMatchObject({ arguments: { service: "checkout" } });
      expect(JSON.stringify(tool.result)).toContain("nobody is on call for checkout");
      expect(tool.requests[0]).toMatchObject({
        twin: "postgres",
        sql: expect.stringContaining("WHERE engineers.name = lower($1)"),
      });
      const table = { twin: "postgres", table: "on_call", where: { service: "checkout" } };
      expect((await mcp.call("read_rows", table, rowsAnswer)).rows).toHaveLength(1);
    },
    toolCalls: 3,
  },
  {
    what: "no silence after the assistant's turns",
    file: "agent/call/trailing-silence.ts",
    line: ["TRAILING_SILENCE_MS = 1_700", "TRAILING_SILENCE_MS = 0"],
    scenario: "ask-status",
    async locate(_mcp, run) {
      expect(run).toMatchObject({ outcome: "stalled", turns: [{ speaker: "assistant" }] });
      expect(run.reason).toContain("it sent no silence after its speech");
    },
    toolCalls: 1,
  },
  {
    what: "open_incident writes a severity that is off by one",
    file: "tools/open-incident.ts",
    line: ["[service.trim(), severity, title]", "[service.trim(), severity + 1, title]"],
    scenario: "open-incident",
    async locate(mcp, run) {
      expect(run.failures.join()).toContain("severity");
      const tool = await readTool(mcp, run, "open_incident");
      expect(tool).toMatchObject({ arguments: { severity: 2 }, result: { severity: 3 } });
      const { request } = await readRequest(mcp, tool);
      expect(JSON.stringify(request.body)).toMatch(/"parameters":\["checkout","?3"?,/);
    },
    toolCalls: 3,
  },
  {
    what: "incident_status hangs",
    file: "tools/incident-status.ts",
    line: ["// People say only the number.", "await new Promise(() => undefined);"],
    scenario: "ask-status",
    async locate(mcp, run) {
      expect(run.failures.join()).toContain("incident_status");
      const tool = await readTool(mcp, run, "incident_status");
      expect(JSON.stringify(tool.result)).toContain("did not answer within 2000 ms");
      expect(tool.took_ms).toBeGreaterThanOrEqual(Number(TOOL_TIMEOUT_MS));
      // It never came to its query.
      expect(tool.requests).toEqual([]);
    },
    toolCalls: 2,
  },
  {
    what: "error_trend asks the wrong index",
    file: "tools/error-trend.ts",
    line: ["environment.SPLUNK_INDEX}$", '"metrics"}$'],
    scenario: "errors-worse",
    async locate(mcp, run) {
      expect(run.failures.join()).toContain("error_trend");
      const tool = await readTool(mcp, run, "error_trend");
      expect(JSON.stringify(tool.result)).toContain("the logs hold nothing of checkout");
      expect(tool.requests[0]).toMatchObject({ twin: "splunk", status: 200 });
      const { request } = await readRequest(mcp, tool);
      expect(JSON.stringify(request.body)).toContain("index%3Dmetrics");
    },
    toolCalls: 3,
  },
];

/** The agent of a folder as a process, in a sandbox. */
class AgentProcess {
  readonly #child: ChildProcess;
  readonly #watched = new Watched();
  #output = "";

  constructor(folder: string, environment: Record<string, string>) {
    this.#child = spawn(process.execPath, ["scripts/shared/start.cjs", "agent/main.ts"], {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: "0", DRAIN_TIMEOUT_MS: "0", TOOL_TIMEOUT_MS, ...environment },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#output += chunk.toString();
        this.#watched.changed();
      });
    }
  }

  async voiceUrl(): Promise<string> {
    const listens = /"url":"http([^"]+)".*agent listens on/;
    await this.#watched.until(() => listens.test(this.#output), "the agent to listen");
    return `ws${listens.exec(this.#output)?.[1]}/voice`;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

let house: House;
let folder: string;
let sandbox: OwnSandbox;
let agent: AgentProcess | undefined;
let mcp: McpClient | undefined;

beforeAll(async () => {
  house = await startHouse();
});
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "offhook-planted-"));
  for (const name of ["agent", "tools", "package.json", "scripts/shared/start.cjs"]) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    cpSync(path.join(PROJECT, name), path.join(folder, name), { recursive: true });
  }
  symlinkSync(path.join(PROJECT, "node_modules"), path.join(folder, "node_modules"), "dir");
  sandbox = await createSandbox(house.twins);
});
afterEach(async () => {
  await mcp?.client.close();
  agent?.kill();
  await sandbox.remove();
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => house.stop());

test.each(process.env.PLANTED === "all" ? planted : planted.slice(0, 2))(
  "$what: located in $toolCalls tool calls",
  async ({ file, line: [right, wrong], scenario, locate, toolCalls }) => {
    const copy = path.join(folder, file);
    const text = readFileSync(copy, "utf8");
    expect(text.split(right)).toHaveLength(2);
    writeFileSync(
      copy,
      text.replace(right, () => wrong),
    );
    agent = new AgentProcess(folder, { ...house.twins.agentEnvironment(""), ...sandbox.environment });
    mcp = await McpClient.start(house, sandbox.address.sandbox, await agent.voiceUrl());
    const run = await mcp.call("run_scenario", { scenario, speed: SPEED }, runAnswer);
    expect(run.passed).toBe(false);
    await locate(mcp, run);
    expect(mcp.called).toHaveLength(toolCalls);
  },
);
