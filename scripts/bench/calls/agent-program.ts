/** The agent as it is, with one tool that does nothing but answer. */

import { answerQuestions } from "@offhook/platform/testing/bench/child";
import { z } from "zod";
import { readConfig } from "../../../agent/config.ts";
import { startAgent } from "../../../agent/server.ts";
import { observeProcess } from "../../../agent/telemetry/observe-process.ts";
import { registryOf } from "../../../tools/registry.ts";
import { defineTool } from "../../../tools/tool.ts";
import { incident } from "./incident.ts";
import type { ProgramQuestions } from "./questions.ts";
import { cpu, memory } from "./usage.ts";

const openIncident = defineTool({
  name: "open_incident",
  description: "Opens an incident.",
  parameters: z.object({
    service: z.string(),
    severity: z.number().int().min(1).max(4),
    title: z.string().min(1).max(200),
  }),
  run: async (args) => incident(args),
});

answerQuestions<ProgramQuestions>({
  start: async ({ runtimeUrl, toolSecret, recordDir = "", collectorUrl = "" }) => {
    const config = readConfig({
      PORT: "0",
      VAPI_API_KEY: "bench-key",
      VOICE_API_URL: runtimeUrl,
      TOOL_SECRET: toolSecret,
      MAX_CALLS: "10000",
      // The bench's callers say nothing audible.
      MAX_SILENCE_MS: "3600000",
      RECORD_DIR: recordDir,
      NODE_ENV: "production",
    });
    const tools = registryOf([{ tool: openIncident }]);
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collectorUrl;
    const agent = await startAgent(config, { ...(await observeProcess(config.logLevel)), tools });
    return { voiceUrl: `${agent.url.replace("http:", "ws:")}/voice`, toolUrl: `${agent.url}/tool` };
  },
  cpu,
  memory,
});
