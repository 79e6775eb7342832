/** A tool of the server: its schemas, its hints, and what it does. */
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Project } from "./project.ts";
import type { ScenarioRuns } from "./scenario-runs.ts";

interface ToolContext {
  project: Project;
  runs: ScenarioRuns;
  /** Tells the client how far a long call is; a client that did not ask for it hears nothing. */
  report(message: string): void;
  /** Aborts when the client cancels the call. */
  signal: AbortSignal;
}

/** Names of hints, so that a tool says what it is in words. */
const HINTS = {
  /** Changes nothing. */
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  /** Adds to what is there. */
  add: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  /** Adds to what is there; doing it again changes nothing. */
  set: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  /** Takes away what was there; doing it again changes nothing. */
  remove: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
} satisfies Record<string, ToolAnnotations>;

interface ToolDefinition<Input extends z.ZodRawShape, Output extends z.ZodRawShape> {
  name: string;
  title: string;
  /** What it answers, and when to use it. */
  description: string;
  kind: keyof typeof HINTS;
  input: Input;
  output: Output;
  /** @throws errors whose message says what would be right */
  run(
    input: z.output<z.ZodObject<Input>>,
    context: ToolContext,
  ): Promise<z.input<z.ZodObject<Output>>> | z.input<z.ZodObject<Output>>;
}

/** A tool, ready to be given to a server. */
export interface Tool {
  name: string;
  title: string;
  register(server: McpServer, context: Omit<ToolContext, "report" | "signal">): void;
}

export function defineTool<Input extends z.ZodRawShape, Output extends z.ZodRawShape>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const { name, title, description, kind, input, output, run } = definition;
  const known = Object.keys(input);
  const inputSchema = z.strictObject(input, {
    error: ({ code }) =>
      code === "unrecognized_keys"
        ? `takes no such argument; ${known.length === 0 ? "it takes none" : `it takes ${known.join(", ")}`}`
        : undefined,
  });
  const outputSchema = z.object(output);
  // The SDK infers nothing of generic schemas.
  const schemas: { inputSchema: z.ZodObject; outputSchema: z.ZodObject } = { inputSchema, outputSchema };
  return {
    name,
    title,
    register(server, context) {
      server.registerTool(
        name,
        {
          title,
          description,
          ...schemas,
          // Twins of this machine, not the open world.
          annotations: { title, ...HINTS[kind], openWorldHint: false },
        },
        async (given, { _meta, sendNotification, signal }) => {
          let progress = 0;
          const report = (message: string) => {
            const progressToken = _meta?.progressToken;
            if (progressToken === undefined) return;
            progress += 1;
            const params = { progressToken, progress, message };
            void sendNotification({ method: "notifications/progress", params }).catch(() => undefined);
          };
          const answer = outputSchema.parse(
            await run(inputSchema.parse(given), { ...context, report, signal }),
          );
          return {
            structuredContent: answer,
            // For clients that read no structured content.
            content: [{ type: "text" as const, text: JSON.stringify(answer) }],
          };
        },
      );
    },
  };
}
