/** The MCP server, as its clients meet it: a process, its standard input and output, and the SDK's own client. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { PROJECT } from "../../../scripts/shared/folders.ts";
import { type House, type Stage, startHouse } from "../../../scripts/shared/house.ts";

let house: House;
let stage: Stage;
let client: Client;

beforeAll(async () => {
  house = await startHouse();
  stage = await house.openStage();
  client = new Client({ name: "test", version: "1" });
  const { baseUrl, apiKey } = house.twins;
  const args = ["--twins", baseUrl, "--key", apiKey, "--sandbox", stage.id, "--url", stage.voiceUrl];
  await client.connect(
    new StdioClientTransport({
      command: "node",
      args: ["scripts/shared/start.cjs", "scripts/mcp.ts", ...args],
      cwd: PROJECT,
      stderr: "inherit",
    }),
  );
});
afterAll(async () => {
  await client.close();
  await house.stop();
});

const called = new Set<string>();

/** Calls a tool that must answer. The client checks the answer against the tool's schema. */
async function call(name: string, args: Record<string, unknown> = {}, onprogress?: (at: Progress) => void) {
  called.add(name);
  const result = await client.callTool({ name, arguments: args }, undefined, onprogress && { onprogress });
  expect(result.isError, JSON.stringify(result.content)).toBeFalsy();
  const answer = result.structuredContent;
  expect(result.content).toEqual([{ type: "text", text: JSON.stringify(answer) }]);
  expect(JSON.stringify(answer)).not.toContain(house.twins.apiKey);
  // biome-ignore lint: answers are read member by member
  return answer as any;
}

test("list", async () => {
  const { tools } = await client.listTools();
  console.log(JSON.stringify(tools).length, tools.map((t) => t.name));
  console.log(await call("list_scenarios"));
  const progress: Progress[] = [];
  const run = await call("run_scenario", { scenario: "open-incident", speed: 20 }, (at) => progress.push(at));
  console.log(JSON.stringify(run, null, 1), progress);
  console.log(JSON.stringify(await call("read_call", { call_id: run.call_id }), null, 1));
  for (const [n, a] of [["list_twins"], ["read_manual", { twin: "postgres" }], ["read_verdict"], ["list_calls"], ["read_journal", { limit: 3 }], ["list_tables", { twin: "postgres" }], ["read_rows", { twin: "postgres", table: "incidents", limit: 2 }], ["read_difference", { twin: "postgres" }], ["list_fault_templates", { twin: "postgres" }], ["arm_fault", { twin: "vapi", template: "call.create: 503" }], ["list_faults"], ["remove_faults"], ["read_clock"], ["set_clock", { advance_ms: 1000 }], ["set_clock", { live: true }], ["reset"]] as const)
    console.log(n, JSON.stringify(await call(n, a)).slice(0, 1500));
});
