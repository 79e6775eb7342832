/** Regular expressions as arguments of commands. */
import { InvalidPattern, type Pattern, readPattern } from "../regex/pcre.ts";
import { commandError, SplError } from "../spl-error.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";

/** Reads a quoted text, or the rest of the arguments. */
export function readRegexText(reader: ArgumentReader): string {
  const text = reader.peek().type === "string" ? reader.text("a regular expression") : reader.rest();
  if (text === "") reader.fail("The regular expression is missing.");
  return text;
}

/** @throws SplError of phase `run`; splunkd words it differently for `regex` and `rex` */
export function compileRegex(reader: ArgumentReader, text: string): Pattern {
  try {
    return readPattern(text);
  } catch (error) {
    if (!(error instanceof InvalidPattern)) throw error;
    if (reader.command === "regex") {
      throw new SplError(
        `Error in 'SearchOperator:regex': The regex '${text}' is invalid. ${error.message}.`,
        "run",
      );
    }
    throw commandError(
      reader.command,
      `Encountered the following error while compiling the regex '${text}': ${error.message}.`,
      "run",
    );
  }
}
