/** Translates Java's regular expressions to RE2's. */
import { patternSyntax, type Span, UnrecognisedEsql } from "../errors.ts";

/** @throws VendorError for an invalid expression; UnrecognisedEsql for one that RE2 cannot run */
export function javaRegex(pattern: string, at: Span): string {
  const translated = pattern.replace(/\\Q([\s\S]*?)(?:\\E|$)/g, (_, text: string) =>
    text.replace(/[^\w\s]/g, "\\$&"),
  );
  if (/\(\?(?:[=!>]|<[=!])|\\[1-9]|\\k<|[*+?}]\+/.test(translated)) {
    throw new UnrecognisedEsql(at, "a regular expression that looks around, back, or possesses");
  }
  const named = translated.replace(/\(\?<([A-Za-z]\w*)>/g, "(?P<$1>");
  checkSyntax(translated, pattern);
  return named;
}

function checkSyntax(translated: string, pattern: string): void {
  try {
    new RegExp(
      translated.replace(/\(\?[ismU-]+\)|\(\?[ismU-]+:/g, "(?:)").replace(/\(\?:\)(?=[^)]*\))/g, "(?:"),
    );
  } catch {
    try {
      new RegExp(translated.replace(/\(\?[a-zA-Z-]+[:)]/g, ""));
    } catch {
      throw patternSyntax(`Unclosed group or dangling character in the regular expression [${pattern}]`);
    }
  }
}

/** Java's `$1` and `\$` become RE2's `\1` and `$`. */
export function javaReplacement(text: string): string {
  return text.replace(
    /\\([\s\S])|\$(\d)|\\/g,
    (_, escaped: string | undefined, group: string | undefined) => {
      if (group !== undefined) return `\\${group}`;
      return escaped === "\\" || escaped === undefined ? "\\\\" : escaped;
    },
  );
}
