/** `rename`: renames fields, one pair after the other. */
import { defineCommand } from "../command.ts";
import { columnOf, extend, type Output, outputsOf, project, type Relation } from "../relation/relation.ts";
import { countWildcards, fillWildcards, hasWildcard, wildcardMatch } from "../relation/wildcards.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";

interface Renaming {
  from: string;
  to: string;
}

export const rename = defineCommand({
  name: "rename",
  kind: "streaming",
  parse(reader) {
    const renamings = [readRenaming(reader)];
    for (reader.symbol(","); !reader.atEnd(); reader.symbol(",")) renamings.push(readRenaming(reader));
    return { renamings };
  },
  compile: ({ renamings }, input) => renamings.reduce(renameFields, input),
});

function readRenaming(reader: ArgumentReader): Renaming {
  const named = reader.field("a field to rename");
  // `PREFIX(kb=)` of `tstats` names its field `kb=`.
  const from = reader.peek().start === reader.offset() && reader.symbol("=") ? `${named}=` : named;
  if (!reader.keyword("as", "to") && !readArrow(reader)) {
    reader.fail(`Usage: rename [old_name AS/TO/-> new_name]+.`);
  }
  const to = reader.field("a new name");
  if (countWildcards(from) !== countWildcards(to)) {
    reader.fail(`Wildcard mismatch: '${from}' as '${to}'.`);
  }
  return { from, to };
}

/** `->` */
function readArrow(reader: ArgumentReader): boolean {
  const [dash, head] = [reader.peek(), reader.peek(1)];
  const isArrow =
    dash.type === "word" &&
    dash.text === "-" &&
    head.type === "symbol" &&
    head.text === ">" &&
    head.start === dash.end;
  if (isArrow) for (const _ of "->") reader.next();
  return isArrow;
}

/** Renames a field, replacing any field of the new name. A field of the new name disappears even when there is nothing to rename. */
function renameFields(input: Relation, { from, to }: Renaming): Relation {
  if (from === to) return input;
  const one = hasWildcard(from) ? undefined : columnOf(input, from);
  if (!hasWildcard(from) && one === undefined) return extend(input, new Map([[to, undefined]]));
  const names = new Map(
    input.columns.flatMap((column): [string, string][] => {
      const parts = column === one ? [] : wildcardMatch(from, column.name);
      return parts === undefined ? [] : [[column.name, fillWildcards(to, parts)]];
    }),
  );
  const taken = new Set(names.values());
  const outputs = outputsOf(input).flatMap((output): Output[] => {
    const name = names.get(output.name);
    if (name === undefined) return taken.has(output.name) ? [] : [withRenamedFormat(output, names)];
    return [{ ...withRenamedFormat(output, names), name }];
  });
  return project(input, lastOfEachName(outputs));
}

/** Renames the fields that a field's format reads. */
function withRenamedFormat(output: Output, names: ReadonlyMap<string, string>): Output {
  const { format } = output;
  return format === undefined ? output : { ...output, format: format.renameFields(names) };
}

/** When several fields get one name, the last one stays. */
function lastOfEachName(outputs: readonly Output[]): Output[] {
  return [...new Map(outputs.map((output) => [output.name, output])).values()];
}
