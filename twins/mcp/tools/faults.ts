/** Faults: what can be armed, arming, and removing. */
import { anyFault } from "@offhook/platform/faults/schema";
import { z } from "zod";
import { anyObject, paged, paging, twinName } from "../arguments.ts";
import { nextOffset, takeFitting } from "../bounds.ts";
import { ControlPlanes, ToolError } from "../project.ts";
import { defineTool } from "../tool.ts";

const template = z.object({ name: z.string(), description: z.string(), fault: anyObject });
const templatesAnswer = z.object({ templates: z.array(template) });
const armed = z.looseObject({ id: z.string(), effect: z.string(), state: z.string(), hits: z.number() });
const faultsAnswer = z.object({ faults: z.array(armed) });
const removedAnswer = z.object({ removed: z.number() });

export const faultTools = [
  defineTool({
    name: "list_fault_templates",
    title: "List faults that can be armed",
    description:
      "Faults of a twin that can be armed as they are, with what the code under test sees of each. Use it to find the name or the members for arm_fault.",
    kind: "read",
    input: {
      twin: twinName,
      operation: z
        .string()
        .optional()
        .describe("All of one operation; default: all operations, the most wanted"),
      ...paging,
    },
    output: { templates: z.array(template), ...paged },
    async run({ twin, operation, limit, offset }, { project }) {
      const templates = await readTemplates(new ControlPlanes(project), twin, operation);
      const shown = takeFitting(templates.slice(offset, offset + limit));
      const total = templates.length;
      return { templates: shown, total, next_offset: nextOffset(offset, shown.length, total) };
    },
  }),

  defineTool({
    name: "arm_fault",
    title: "Arm a fault",
    description:
      "Makes a twin fail: a status, a late or broken answer, a reset connection, a dropped WebSocket. Give the name of a template or a fault. Use it to see what the agent says when a vendor fails; remove_faults ends it, and times or ttl_seconds bound it.",
    kind: "add",
    input: {
      twin: twinName,
      template: z.string().optional().describe("A name of list_fault_templates"),
      fault: anyFault.optional().describe("The fault itself, instead of a template"),
    },
    output: { fault: armed },
    async run({ twin, template: name, fault }, { project }) {
      const planes = new ControlPlanes(project);
      if ((name === undefined) === (fault === undefined)) {
        throw new ToolError("give exactly one of template (a name of list_fault_templates) and fault");
      }
      const body = name === undefined ? fault : await findTemplate(planes, twin, name);
      return { fault: armed.parse(await planes.ofTwin("POST", twin, "faults", {}, body)) };
    },
  }),

  defineTool({
    name: "list_faults",
    title: "List armed faults",
    description:
      "The faults of one twin or of all, with how often each has hit. Use it when answers of a twin are unexpected, and to see whether a fault took effect.",
    kind: "read",
    input: { twin: twinName.optional().describe("Default: all of them") },
    output: { faults: z.array(armed.extend({ twin: z.string() })) },
    async run({ twin }, { project }) {
      const planes = new ControlPlanes(project);
      const found = (await planes.choose(twin)).map(async (name) => {
        const { faults } = faultsAnswer.parse(await planes.ofTwin("GET", name, "faults"));
        return faults.map((fault) => ({ ...fault, twin: name }));
      });
      return { faults: (await Promise.all(found)).flat() };
    },
  }),

  defineTool({
    name: "remove_faults",
    title: "Remove faults",
    description:
      "Removes one fault of a twin, all of a twin, or all there are; requests that they hold up are answered.",
    kind: "remove",
    input: {
      twin: twinName.optional().describe("Default: all of them"),
      id: z.string().min(1).optional().describe("One fault of the twin; default: all of it"),
    },
    output: { removed: z.number() },
    async run({ twin, id }, { project }) {
      const planes = new ControlPlanes(project);
      if (id !== undefined) {
        if (twin === undefined) throw new ToolError("ids are a twin's own: give twin beside id");
        await planes.ofTwin("DELETE", twin, `faults/${encodeURIComponent(id)}`);
        return { removed: 1 };
      }
      const answers = (await planes.choose(twin)).map(async (name) =>
        removedAnswer.parse(await planes.ofTwin("DELETE", name, "faults")),
      );
      return { removed: (await Promise.all(answers)).reduce((sum, { removed }) => sum + removed, 0) };
    },
  }),
];

async function readTemplates(planes: ControlPlanes, twin: string, operation?: string) {
  const answer = await planes.ofTwin("GET", twin, "faults/templates", { operation });
  return templatesAnswer.parse(answer).templates;
}

/** Looks in the short list, then in that of the operation that the name begins with. @throws ToolError */
async function findTemplate(planes: ControlPlanes, twin: string, name: string) {
  const named = ({ name: other }: { name: string }) => other === name;
  const first = await readTemplates(planes, twin);
  const [operation] = name.split(": ");
  const found =
    first.find(named) ?? (await readTemplates(planes, twin, operation).catch(() => [])).find(named);
  if (found !== undefined) return found.fault;
  const some = first.slice(0, 10).map((each) => `"${each.name}"`);
  throw new ToolError(
    `${twin} has no template "${name}"; among others it has ${some.join(", ")}; list_fault_templates has all`,
  );
}
