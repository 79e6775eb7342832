/** `fieldformat`: changes how results show a field, not its value. */
import { defineCommand } from "../command.ts";
import { fieldFormat } from "../eval/field-format.ts";
import { outputsOf, project } from "../relation/relation.ts";
import { readAssignment } from "./eval.ts";

export const fieldformat = defineCommand({
  name: "fieldformat",
  kind: "streaming",
  parse: readAssignment,
  compile({ field, expression }, input, context) {
    const outputs = outputsOf(input).map((output) =>
      output.name === field ? { ...output, format: fieldFormat(expression, context) } : output,
    );
    return project(input, outputs);
  },
});
