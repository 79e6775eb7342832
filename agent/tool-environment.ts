/** What the tools read from the agent's environment. */
import type { Logger } from "pino";
import type { ToolRegistry } from "../tools/registry.ts";
import type { Tool } from "../tools/tool.ts";

/** The variables a tool declared. @throws Error naming each that is missing or wrong, never its value */
export type ToolEnvironments = (tool: Tool) => Record<string, unknown>;

/** Reads the variables once. A tool that lacks one is warned about now and fails when called. */
export function readToolEnvironments(
  tools: ToolRegistry,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): ToolEnvironments {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  // The schema's own messages take precedence.
  const error = ({ input }: { input?: unknown }) => (input === undefined ? "not set" : undefined);
  const readings = new Map(
    tools.all().map((tool) => [tool.name, tool.environment?.safeParse(present, { error })]),
  );
  for (const [tool, reading] of readings) {
    if (reading?.success === false) log.warn({ tool }, problemOf(reading.error));
  }
  return ({ name }) => {
    const reading = readings.get(name);
    if (reading?.success === false) throw new Error(problemOf(reading.error));
    return reading?.data ?? {};
  };
}

function problemOf({ issues }: { issues: readonly { path: PropertyKey[]; message: string }[] }): string {
  const variables = issues.map(({ path, message }) => `${path.join(".")} (${message})`);
  return `the tool needs ${variables.join(" and ")} in the agent's environment`;
}
