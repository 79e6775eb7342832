/** `fieldformat`: how results show a field; its value stays what it is. */
import { defineCommand } from "../command.ts";
import { outputsOf, project } from "../relation/relation.ts";
import { readAssignment } from "./eval.ts";

export const fieldformat = defineCommand({
  name: "fieldformat",
  kind: "streaming",
  parse: readAssignment,
  compile({ field, expression }, input) {
    const outputs = outputsOf(input).map((output) =>
      output.name === field ? { ...output, display: expression } : output,
    );
    return project(input, outputs);
  },
});
