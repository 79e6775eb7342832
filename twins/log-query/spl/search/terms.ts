/** Terms and phrases: what is looked for in the text of an event. */
import { joined, raw, type Sql, sql } from "../../../datasets/sql.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { termPattern } from "./term-pattern.ts";

type Term = Extract<SearchExpression, { node: "term" }>;

/** @param text a column of texts @returns never NULL */
export function termMatches({ value, mode }: Pick<Term, "value" | "mode">, text: Sql): Sql {
  const { pattern, literals } = termPattern(value.text, mode === "term");
  if (pattern === undefined) return raw("true");
  // What is cheap to look for comes first.
  const [longest = ""] = [...literals].sort((a, b) => b.length - a.length);
  const has =
    mode === "case" ? sql`contains(${text}, ${longest})` : sql`contains(lower(${text}), lower(${longest}))`;
  const flags = mode === "case" ? "s" : "si";
  const matches = sql`regexp_matches(${text}, ${pattern}, ${raw(`'${flags}'`)})`;
  return sql`coalesce(${joined([has, matches], " AND ")}, false)`;
}
