/** An MCP server by which a coding agent drives twins and an agent that run: https://modelcontextprotocol.io. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Project } from "./project.ts";
import { ScenarioRuns } from "./scenario-runs.ts";
import type { Tool } from "./tool.ts";
import { callTools } from "./tools/calls.ts";
import { clockTools } from "./tools/clock.ts";
import { faultTools } from "./tools/faults.ts";
import { journalTools } from "./tools/journal.ts";
import { scenarioTools } from "./tools/scenarios.ts";
import { twinTools } from "./tools/twins.ts";
import { worldTools } from "./tools/world.ts";

export type { Callee, Project } from "./project.ts";

const NAME = "offhook";
const VERSION = "0.1.0";
const INSTRUCTIONS = `offhook is a voice agent with stand-ins ("twins") for every vendor that it talks to. npm run dev keeps both running; this server places calls to the agent and reads what happened.
To change the agent: run_scenario; on a failure read_call with its call_id (each tool with arguments, result, webhook and the requests it made), then read_request for one of them whole, read_rows or read_difference for what was written. Runs share one sandbox: reset puts its rows back.`;

const tools: readonly Tool[] = [
  ...scenarioTools,
  ...callTools,
  ...journalTools,
  ...worldTools,
  ...faultTools,
  ...clockTools,
  ...twinTools,
];

export interface ProjectServer {
  /** Not connected yet. */
  server: McpServer;
  /** Takes back what a running scenario gave to the twins, and closes the connection. */
  close(): Promise<void>;
}

/** A server with every tool, for one client. */
export function createProjectServer(project: Project): ProjectServer {
  const server = new McpServer({ name: NAME, version: VERSION }, { instructions: INSTRUCTIONS });
  const runs = new ScenarioRuns(project);
  for (const tool of tools) tool.register(server, { project, runs });
  return {
    server,
    async close() {
      await runs.withdraw();
      await server.close();
    },
  };
}
