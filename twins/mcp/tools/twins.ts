/** What there is: the twins, how they behave, and their reset. */
import { z } from "zod";
import { anyObject, twinName } from "../arguments.ts";
import { ControlPlanes } from "../project.ts";
import { defineTool } from "../tool.ts";

const health = z.object({ status: z.string(), vendor: z.string(), state_version: z.number() });
const manualAnswer = z.looseObject({ environment: z.unknown() });
const versioned = z.object({ state_version: z.number() });
const resetAnswer = z.object({ twins: z.array(z.object({ name: z.string(), state_version: z.number() })) });

export const twinTools = [
  defineTool({
    name: "list_twins",
    title: "List the twins",
    description:
      "The stand-ins for vendors that run here, with their state. Use it first, or when a tool answers that there is no such twin.",
    kind: "read",
    input: {},
    output: {
      twins: z.array(
        z.object({
          name: z.string(),
          vendor: z.string(),
          status: z.string().describe("ok, degraded or down"),
          url: z.string().describe("Base of the vendor's API for the code under test, without its password"),
          state_version: z.number().describe("Grows with every change of its rows"),
        }),
      ),
    },
    async run(_input, { project }) {
      const planes = new ControlPlanes(project);
      const twins = await planes.twins();
      const found = twins.map(async ({ name, url }) => {
        const answer = await planes.ofTwin("GET", name, "health").catch(() => undefined);
        const { vendor, status, state_version } = health
          .catch({ status: "down", vendor: name, state_version: 0 })
          .parse(answer);
        return { name, vendor, status, url: withoutPassword(url), state_version };
      });
      return { twins: await Promise.all(found) };
    },
  }),

  defineTool({
    name: "read_manual",
    title: "Read a twin's manual",
    description:
      "How a twin behaves where it may surprise: credentials, statuses for faults, repeated writes, notes, its control plane. Use it before you blame the agent for an answer of a twin.",
    kind: "read",
    input: { twin: twinName },
    output: { manual: anyObject },
    async run({ twin }, { project }) {
      const answer = await new ControlPlanes(project).ofTwin("GET", twin, "manual");
      // The client's variables hold passwords and keys.
      const { environment: _secret, ...manual } = manualAnswer.parse(answer);
      return { manual };
    },
  }),

  defineTool({
    name: "reset",
    title: "Reset one or all twins",
    description:
      "Puts the rows of one twin, or of all, back to the start and removes their faults. Use it before a run that must not see what earlier runs left. Calls and verdicts are rows, too: they go; journals stay.",
    kind: "remove",
    input: { twin: twinName.optional().describe("Default: all of them") },
    output: { twins: z.array(z.object({ name: z.string(), state_version: z.number() })) },
    async run({ twin }, { project }) {
      const planes = new ControlPlanes(project);
      if (twin === undefined) return resetAnswer.parse(await planes.ofSandbox("POST", "/reset"));
      const { state_version } = versioned.parse(await planes.ofTwin("POST", twin, "reset"));
      return { twins: [{ name: twin, state_version }] };
    },
  }),
];

/** A database's address has the sandbox's password, and clients keep answers. */
function withoutPassword(address: string): string {
  const url = new URL(address);
  url.password = "";
  return url.href;
}
