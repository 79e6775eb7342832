/** The edits of `mode=sed`: `s/regex/replacement/g` and `y/abc/xyz/`, applied in order. */
import { type Sql, sql } from "@offhook/log-store/sql";
import type { Pattern } from "../regex/pcre.ts";
import { replaceFirstSql, replaceNthSql, replaceSql } from "../regex/regex-sql.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { compileRegex } from "./regex-argument.ts";

export type SedEdit =
  | {
      readonly edit: "substitute";
      readonly pattern: Pattern;
      readonly replacement: string;
      /** Which match, from 1. */
      readonly which: "all" | number;
    }
  | { readonly edit: "transliterate"; readonly from: string; readonly to: string };

/** @throws SplError */
export function readSed(reader: ArgumentReader, text: string): readonly SedEdit[] {
  const edits: SedEdit[] = [];
  let at = 0;
  for (;;) {
    at += /^[\s;]*/.exec(text.slice(at))?.[0].length ?? 0;
    if (at >= text.length) break;
    const command = text[at] ?? "";
    const delimiter = text[at + 1] ?? "";
    const first = readPart(text, at + 2, delimiter);
    const second = first === undefined ? undefined : readPart(text, first.end, delimiter);
    if (!/[sy]/.test(command) || /[\s\w\\]/.test(delimiter) || !first || !second)
      return failSed(reader, text);
    const [flags = ""] = /^[a-z0-9]*/.exec(text.slice(second.end)) ?? [];
    edits.push(
      command === "s"
        ? readSubstitution(reader, text, first.part, second.part, flags)
        : readTransliteration(reader, text, first.part, second.part, flags),
    );
    at = second.end + flags.length;
  }
  return edits.length === 0 ? failSed(reader, text) : edits;
}

function failSed(reader: ArgumentReader, text: string): never {
  return reader.fail(`Failed to initialize sed. The expression '${text}' is invalid.`);
}

/** Reads up to the next unescaped delimiter. */
function readPart(text: string, from: number, delimiter: string): { part: string; end: number } | undefined {
  let part = "";
  for (let at = from; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === delimiter) return { part, end: at + 1 };
    if (char === "\\" && at + 1 < text.length) {
      at++;
      part += text[at] === delimiter ? delimiter : `\\${text[at]}`;
    } else {
      part += char;
    }
  }
  return undefined;
}

function readSubstitution(
  reader: ArgumentReader,
  text: string,
  regex: string,
  replacement: string,
  flags: string,
): SedEdit {
  const [, ordinal] = /^(?:g|i|(\d+)(?!\d))*$/.exec(flags) ?? failSed(reader, text);
  const pattern = compileRegex(reader, flags.includes("i") ? `(?i)${regex}` : regex);
  const which = flags.includes("g") ? "all" : Number(ordinal ?? 1);
  if (which === 0) failSed(reader, text);
  return { edit: "substitute", pattern, replacement, which };
}

function readTransliteration(
  reader: ArgumentReader,
  text: string,
  from: string,
  to: string,
  flags: string,
): SedEdit {
  if (flags !== "" || [...from].length !== [...to].length) failSed(reader, text);
  return { edit: "transliterate", from, to };
}

export function applyEdits(text: Sql, edits: readonly SedEdit[]): Sql {
  return edits.reduce((sofar, edit) => {
    if (edit.edit === "transliterate") {
      return sql`translate(${sofar}, CAST(${edit.from} AS VARCHAR), CAST(${edit.to} AS VARCHAR))`;
    }
    const { pattern, replacement, which } = edit;
    if (which === "all") return replaceSql(sofar, pattern, sql`CAST(${replacement} AS VARCHAR)`, replacement);
    return which === 1
      ? replaceFirstSql(sofar, pattern, replacement)
      : replaceNthSql(sofar, pattern, replacement, which);
  }, text);
}
