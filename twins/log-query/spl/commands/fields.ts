/** `fields`: which fields go on. */
import { defineCommand } from "../command.ts";
import { columnOf, extend, outputsOf, project } from "../relation.ts";

export const fields = defineCommand({
  name: "fields",
  kind: "streaming",
  parse(reader) {
    const mode = reader.keyword("-") ? ("remove" as const) : ("keep" as const);
    if (mode === "keep") reader.keyword("+");
    const names = reader.fields();
    if (names.length === 0) reader.fail("Missing a list of fields.");
    return { mode, names };
  },
  compile({ mode, names }, input) {
    if (mode === "remove") return extend(input, new Map(names.map((name) => [name, undefined])));
    const kept = [...names, "_time", "_raw"].filter((name) => columnOf(input, name) !== undefined);
    const outputs = outputsOf(input);
    return project(
      input,
      [...new Set(kept)].flatMap((name) => outputs.filter((output) => output.name === name)),
    );
  },
});
