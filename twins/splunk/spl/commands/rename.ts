/** `rename`: other names for fields, one pair after the other. */
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
  compile: ({ renamings }, input) => renamings.reduce(renamed, input),
});

function readRenaming(reader: ArgumentReader): Renaming {
  const named = reader.field("a field to rename");
  // `kb=`, as `PREFIX(kb=)` of `tstats` calls its field.
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

/** A name that another field has already takes that field's place; when there is no field to rename, that field goes as well. */
function renamed(input: Relation, { from, to }: Renaming): Relation {
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
  return project(input, unique(outputs));
}

/** A field's format reads the fields by their new names. */
function withRenamedFormat(output: Output, names: ReadonlyMap<string, string>): Output {
  const { format } = output;
  return format === undefined ? output : { ...output, format: format.renameFields(names) };
}

/** Of fields that come to the same name, the last. */
function unique(outputs: readonly Output[]): Output[] {
  return [...new Map(outputs.map((output) => [output.name, output])).values()];
}
