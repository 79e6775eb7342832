/** Definition of an SPL command: one file in `commands/`, one line in `commands/registry.ts`. */

import type { SearchContext } from "./context/search-context.ts";
import type { Relation } from "./relation/relation.ts";
import type { ArgumentReader } from "./syntax/argument-reader.ts";
import type { CommandKind, ParsedCommand } from "./syntax/ast.ts";

export interface CommandDefinition<Args> {
  /** As the vendor's reference writes it. */
  name: string;
  /** Other names: `bucket` for `bin`. */
  aliases?: readonly string[];
  /** A generating command that is not its pipeline's first is refused. */
  kind: CommandKind;
  /** The kind, where arguments change it: `inputlookup append=t` takes rows, so it is no longer generating. */
  kindOf?(args: Args): CommandKind;
  /** Reads the arguments to their end. @returns the command's part of the syntax tree: plain data @throws SplError */
  parse(reader: ArgumentReader): Args;
  /**
   * The rows after the command. Where the columns depend on the values, it runs the search so far (`context.run`) and builds on
   * the answer.
   * @param input empty, without fields, for a generating command at the start of a pipeline
   * @throws SplError of phase `run`
   */
  compile(args: Args, input: Relation, context: SearchContext): Relation | Promise<Relation>;
}

/** A parsed command together with the definition that compiles it. */
class BoundCommand<Args = unknown> implements ParsedCommand {
  readonly name: string;
  readonly kind: CommandKind;
  readonly args: Args;
  readonly rawArgs: string;
  readonly #definition: CommandDefinition<Args>;

  constructor(definition: CommandDefinition<Args>, args: Args, rawArgs: string) {
    this.name = definition.name;
    this.kind = definition.kindOf?.(args) ?? definition.kind;
    this.args = args;
    this.rawArgs = rawArgs;
    this.#definition = definition;
  }

  compile(input: Relation, context: SearchContext): Relation | Promise<Relation> {
    return this.#definition.compile(this.args, input, context);
  }
}

/** Compiles one command of a pipeline. The syntax tree knows commands as plain data, so the binding is checked here. */
export function compileCommand(
  command: ParsedCommand,
  input: Relation,
  context: SearchContext,
): Relation | Promise<Relation> {
  if (command instanceof BoundCommand) return command.compile(input, context);
  throw new TypeError(`The command ${command.name} was not made by a command definition.`);
}

/** A definition without the type of its arguments. */
export interface Command {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly kind: CommandKind;
  /** @param rawArgs the text that `reader` reads */
  bind(reader: ArgumentReader, rawArgs: string): ParsedCommand;
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
      return new BoundCommand(definition, args, rawArgs);
    },
  };
}
