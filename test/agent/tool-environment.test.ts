import { expect, test } from "vitest";
import { z } from "zod";
import { registryOf } from "../../tools/registry.ts";
import { defineTool } from "../../tools/tool.ts";
import { startAgentBench } from "../support/agent-bench.ts";

const seen: object[] = [];
const weather = defineTool({
  name: "weather",
  description: "Tells the weather.",
  parameters: z.object({}),
  environment: z.object({ WEATHER_URL: z.url(), WEATHER_UNITS: z.string().default("metric") }),
  async run(_, { environment }) {
    seen.push(environment);
    return { asked: environment.WEATHER_URL, units: environment.WEATHER_UNITS };
  },
});

async function ask(env: Record<string, string>, times = 1): Promise<{ answer: unknown; warnings: string[] }> {
  const bench = await startAgentBench({ tools: registryOf([{ tool: weather }]), env });
  try {
    const { runtimeCall } = await bench.call();
    const toolCallList = Array.from({ length: times }, (_, index) => ({
      id: `call-${index}`,
      function: { name: "weather", arguments: {} },
    }));
    const { results } = await bench.postTools(runtimeCall, { message: { toolCallList } });
    const warnings = bench.captured.lines
      .filter(({ tool }) => tool === "weather")
      .map(({ msg }) => String(msg));
    return { answer: JSON.parse(results[0]?.result ?? ""), warnings };
  } finally {
    await bench.stop();
  }
}

test("a tool reads the variables it declares, and gets the same object in every run", async () => {
  const { answer } = await ask({ WEATHER_URL: "http://weather.test", UNRELATED: "x" }, 2);
  expect(answer).toEqual({ asked: "http://weather.test", units: "metric" });
  expect(seen).toHaveLength(2);
  expect(seen[0]).toBe(seen[1]);
  expect(seen[0]).not.toHaveProperty("UNRELATED");
});

test("a variable that is missing or empty fails the tool, not the agent, and the agent says so at its start", async () => {
  for (const env of [{}, { WEATHER_URL: "  " }]) {
    const { answer, warnings } = await ask(env);
    const said = expect.stringContaining("the tool needs WEATHER_URL (not set)");
    expect(answer).toEqual({ error: said });
    expect(warnings[0]).toEqual(said);
  }
});

test("a variable that is wrong is named, its value is not", async () => {
  const { answer } = await ask({ WEATHER_URL: "hunter2" });
  expect(JSON.stringify(answer)).toContain("WEATHER_URL");
  expect(JSON.stringify(answer)).not.toContain("hunter2");
});
