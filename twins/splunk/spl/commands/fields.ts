/** `fields`: keeps or removes fields. */
import { defineCommand } from "../command.ts";
import { columnOf, extend, outputsOf, project } from "../relation/relation.ts";
import { matchingColumns } from "../relation/wildcards.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";

/** Reads the names after a sign. Signs before later names have no effect. */
function readSignedFields(reader: ArgumentReader): string[] {
  const names: string[] = [];
  for (;;) {
    while (reader.symbol(",")) {}
    if (reader.atEnd()) return names;
    reader.sign("+", "-");
    names.push(reader.field());
  }
}

/** Fields that stay unless removed by name or by `_*`. */
const alwaysKept: readonly string[] = ["_time", "_raw"];

export const fields = defineCommand({
  name: "fields",
  kind: "streaming",
  parse(reader) {
    const sign = reader.sign("+", "-");
    const mode = sign === "-" ? ("remove" as const) : ("keep" as const);
    const names = sign === undefined ? reader.fields() : readSignedFields(reader);
    if (names.length === 0)
      reader.fail("Must specify at least one valid field name (can contain wildcards).");
    return { mode, names };
  },
  compile({ mode, names }, input) {
    const named = matchingColumns(input, names);
    if (mode === "remove") return extend(input, new Map(named.map(({ name }) => [name, undefined])));
    const internal = alwaysKept.flatMap((name) => columnOf(input, name) ?? []);
    const outputs = new Map(outputsOf(input).map((output) => [output.name, output]));
    const columns = new Set([...named, ...internal]);
    return project(
      input,
      [...columns].flatMap(({ name }) => outputs.get(name) ?? []),
    );
  },
});
