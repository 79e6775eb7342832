/** `fields`: which fields go on. */
import { defineCommand } from "../command.ts";
import { columnOf, extend, outputsOf, project } from "../relation/relation.ts";
import { matchingColumns } from "../relation/wildcards.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";

/** One sign is for the whole list: those before its later names say nothing more. */
function signedFields(reader: ArgumentReader): string[] {
  const names: string[] = [];
  for (;;) {
    while (reader.symbol(",")) {}
    if (reader.atEnd()) return names;
    reader.sign("+", "-");
    names.push(reader.field());
  }
}

/** They go on unless they are taken out by name, or with `_*`. */
const kept: readonly string[] = ["_time", "_raw"];

export const fields = defineCommand({
  name: "fields",
  kind: "streaming",
  parse(reader) {
    const sign = reader.sign("+", "-");
    const mode = sign === "-" ? ("remove" as const) : ("keep" as const);
    const names = sign === undefined ? reader.fields() : signedFields(reader);
    if (names.length === 0)
      reader.fail("Must specify at least one valid field name (can contain wildcards).");
    return { mode, names };
  },
  compile({ mode, names }, input) {
    const named = matchingColumns(input, names);
    if (mode === "remove") return extend(input, new Map(named.map(({ name }) => [name, undefined])));
    const internal = kept.flatMap((name) => columnOf(input, name) ?? []);
    const outputs = new Map(outputsOf(input).map((output) => [output.name, output]));
    const columns = new Set([...named, ...internal]);
    return project(
      input,
      [...columns].flatMap(({ name }) => outputs.get(name) ?? []),
    );
  },
});
