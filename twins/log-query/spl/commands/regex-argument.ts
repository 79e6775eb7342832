/** The regular expressions that commands take. */
import { InvalidPattern, type Pattern, readPattern } from "../regex/pcre.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";

/** In quotes, or the rest of the arguments. */
export function readRegexText(reader: ArgumentReader): string {
  const text = reader.peek().type === "string" ? reader.text("a regular expression") : reader.rest();
  if (text === "") reader.fail("The regular expression is missing.");
  return text;
}

/** @throws SplError in splunkd's words */
export function compileRegex(reader: ArgumentReader, text: string): Pattern {
  try {
    return readPattern(text);
  } catch (error) {
    if (!(error instanceof InvalidPattern)) throw error;
    return reader.fail(
      `Encountered the following error while compiling the regex '${text}': ${error.message}.`,
    );
  }
}
