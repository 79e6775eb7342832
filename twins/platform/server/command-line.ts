/** Argument parsing shared by all commands of the project. */

import { type ParseArgsConfig, parseArgs } from "node:util";
import { reasonOf } from "../base/reason.ts";

/** An invalid command line; the message holds the reason and the usage. */
export class UsageError extends Error {
  override name = "UsageError";
}

type Options = NonNullable<ParseArgsConfig["options"]>;

/**
 * Reads a command's options and positional arguments.
 * @param usage text of `--help`, appended to errors
 * @returns `undefined` when help is requested
 * @throws UsageError
 */
export function readArguments<const Known extends Options>(
  usage: string,
  options: Known,
  args = process.argv.slice(2),
): ReturnType<typeof parseArgs<{ args: string[]; options: Known; allowPositionals: true }>> | undefined {
  const mark = args.indexOf("--");
  const before = mark < 0 ? args : args.slice(0, mark);
  if (before.includes("--help") || before.includes("-h")) return undefined;
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${refusalOf(error)}\n\n${usage}`);
  }
}

/** Node's reason without its advice on arguments that begin with a dash, since none of ours do. */
function refusalOf(error: unknown): string {
  const text = reasonOf(error);
  return text.split(". To specify")[0] ?? text;
}

/**
 * Reads a whole number above 0 from the command line.
 * @throws UsageError with the usage for anything else
 */
export function readPositiveInteger(
  option: string,
  text: string | undefined,
  otherwise: number,
  usage: string,
): number {
  if (text === undefined) return otherwise;
  if (/^[1-9][0-9]*$/.test(text)) return Number(text);
  throw new UsageError(`--${option} takes a whole number above 0, not ${text}\n${usage}`);
}
