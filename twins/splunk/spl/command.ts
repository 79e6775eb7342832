/** A command of SPL: one file in `commands/`, one line in `commands/registry.ts`. */

import type { SearchContext } from "./context/search-context.ts";
import type { Relation } from "./relation/relation.ts";
import type { ArgumentReader } from "./syntax/argument-reader.ts";

/** How a command works on rows, as `/services/search/parser` says it. */
export type CommandKind = "streaming" | "report" | "events" | "stateful" | "generating";

export interface CommandDefinition<Args> {
  /** As the reference writes it. */
  name: string;
  /** Other names it has: `bucket` for `bin`. */
  aliases?: readonly string[];
  /** A generating command that is not its pipeline's first is refused. */
  kind: CommandKind;
  /** Where arguments change it: `inputlookup append=t` takes rows, so that it is no longer generating. */
  kindOf?(args: Args): CommandKind;
  /** Reads the arguments, to their end. What it answers is the command's part of the syntax tree: plain data. @throws SplError */
  parse(reader: ArgumentReader): Args;
  /**
   * The rows after the command. Where the columns depend on the values, it runs what there is so far (`context.run`) and goes on
   * with the answer.
   * @param input a generating command that begins the pipeline gets no rows and no fields
   * @throws SplError of phase `run`
   */
  compile(args: Args, input: Relation, context: SearchContext): Relation | Promise<Relation>;
}

/** A command with its arguments. */
export interface BoundCommand {
  readonly name: string;
  readonly kind: CommandKind;
  /** For `/services/search/parser` and for tests. */
  readonly args: unknown;
  /** The arguments as they were written. */
  readonly rawArgs: string;
  compile(input: Relation, context: SearchContext): Relation | Promise<Relation>;
}

/** A definition whose arguments' type nobody outside needs. */
export interface Command {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly kind: CommandKind;
  /** @param rawArgs the text that `reader` reads */
  bind(reader: ArgumentReader, rawArgs: string): BoundCommand;
}

export function defineCommand<Args>(definition: CommandDefinition<Args>): Command {
  const { name, kind, aliases = [] } = definition;
  return {
    name,
    aliases,
    kind,
    bind(reader, rawArgs) {
      const args = definition.parse(reader);
      reader.end();
      return {
        name,
        kind: definition.kindOf?.(args) ?? kind,
        args,
        rawArgs,
        compile: (input, context) => definition.compile(args, input, context),
      };
    },
  };
}
