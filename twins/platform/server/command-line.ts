/** How every command of the project reads its arguments and says how it is used. */
import { type ParseArgsConfig, parseArgs } from "node:util";

/** The command line is not understood; the message says why, and what there is. */
export class UsageError extends Error {
  override name = "UsageError";
}

type Options = NonNullable<ParseArgsConfig["options"]>;

/**
 * Reads the options of a command, and the words between them.
 * @param usage what `--help` prints; it also follows the reason when an option is not understood
 * @returns `undefined` when help is asked for
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
    throw new UsageError(`${reasonOf(error)}\n\n${usage}`);
  }
}

/** Node's reason, without its advice on arguments that begin with a dash, which none of ours do. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split(". To specify")[0] ?? text;
}

/**
 * Reads a whole number above 0 of the command line.
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
