/** Wildcards, prefixes and regular expressions as SQL conditions over a text. */
import { type Sql, sql } from "@offhook/log-store/sql";
import { illegalArgument } from "../../vendor/error.ts";
import type { WildcardPart } from "../mark.ts";
import { between } from "./column.ts";

/** Makes the condition that a text matches. */
export type Condition = (text: Sql) => Sql;

interface Case {
  readonly caseInsensitive: boolean;
}

const EXACT: Case = { caseInsensitive: false };

/** Beyond it the vendor's automaton exceeds its effort limit. */
const MAX_WILDCARD_CHARS = 4000;

/** Splits a wildcard into texts, `*` and `?`. A backslash escapes the next character. */
export function wildcardParts(pattern: string): WildcardPart[] {
  const parts: WildcardPart[] = [];
  let text = "";
  const end = () => {
    if (text !== "") parts.push({ kind: "text", text });
    text = "";
  };
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    if (character === "\\" && index + 1 < characters.length) text += characters[++index] ?? "";
    else if (character === "*" || character === "?") {
      end();
      // Adjacent stars mean the same as one.
      if (character === "?" || parts.at(-1)?.kind !== "any") {
        parts.push({ kind: character === "*" ? "any" : "one" });
      }
    } else text += character;
  }
  end();
  return parts;
}

export function wildcardCondition(pattern: string, { caseInsensitive }: Case): Condition {
  const parts = wildcardParts(pattern);
  const shape = parts.map(({ kind }) => kind).join(" ");
  const [first] = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  if (!caseInsensitive) {
    if (shape === "any") return () => sql`true`;
    if (shape === "text") return (value) => sql`${value} = ${first ?? ""}`;
    if (shape === "text any") return prefixCondition(first ?? "");
    if (shape === "any text") return (value) => sql`suffix(${value}, ${first ?? ""})`;
    if (shape === "any text any") return (value) => sql`contains(${value}, ${first ?? ""})`;
  }
  if (pattern.length > MAX_WILDCARD_CHARS) {
    throw illegalArgument(
      `Determinizing automaton would require more than 10000 effort: a wildcard of ${pattern.length} characters`,
    );
  }
  const source = parts
    .map((part) => (part.kind === "text" ? escapeRe2(part.text) : part.kind === "any" ? ".*" : "."))
    .join("");
  const fits = regexpCondition(source, { caseInsensitive });
  if (caseInsensitive || parts[0]?.kind !== "text" || first === undefined) return fits;
  const starts = prefixCondition(first);
  return (value) => sql`(${starts(value)} AND ${fits(value)})`;
}

/** Compares with bounds where the case counts: those prune the sorted postings. */
export function prefixCondition(prefix: string, { caseInsensitive }: Case = EXACT): Condition {
  if (caseInsensitive) return (value) => sql`starts_with(lower(${value}), lower(${prefix}))`;
  if (prefix === "") return () => sql`true`;
  const after = afterPrefix(prefix);
  return (value) =>
    between(value, [
      { operator: ">=", bound: sql`${prefix}` },
      ...(after === undefined ? [] : [{ operator: "<", bound: sql`${after}` }]),
    ]);
}

/** The first text beyond every text with the prefix, in UTF-8 order; `undefined` when there is none. */
function afterPrefix(prefix: string): string | undefined {
  const characters = [...prefix];
  while (characters.length > 0) {
    const last = characters.pop()?.codePointAt(0) ?? 0;
    if (last === 0x10ffff) continue;
    // Skips the surrogates, which UTF-8 does not encode.
    const next = last + 1 === 0xd800 ? 0xe000 : last + 1;
    return characters.join("") + String.fromCodePoint(next);
  }
  return undefined;
}

/** @param source for RE2; it must match the whole text, and `.` matches line ends too */
export function regexpCondition(source: string, { caseInsensitive }: Case): Condition {
  const options = caseInsensitive ? "si" : "s";
  return (value) => sql`regexp_full_match(${value}, ${source}, ${options})`;
}

/** Escapes the operators of RE2. */
export function escapeRe2(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}
