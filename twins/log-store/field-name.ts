/** Rules for the names of fields, the same for uploads and for written documents; and reading a field by its name. */
import { joined, type Sql, sql, textLiteral } from "./sql.ts";

const NUL = "\0";

/** Which rule a name breaks; `undefined`: none. Dots separate the names of objects. */
export function brokenNameRule(name: string): string | undefined {
  if (name.trim() === "" || name.startsWith(".") || name.endsWith(".") || name.includes("..")) {
    return "has an empty part";
  }
  return name.includes(NUL) ? "has the character U+0000 in it" : undefined;
}

/** The value of a field as `_source` spells it, if it is a single value: VARCHAR. */
export function spelledValue(name: string): Sql {
  const quoted = (part: string) => `"${part.replaceAll('"', '\\"')}"`;
  const nested = `$.${name.split(".").map(quoted).join(".")}`;
  const paths = name.includes(".") ? [nested, `$.${quoted(name)}`] : [nested];
  const first = (suffix: string) =>
    sql`coalesce(${joined(
      paths.map((path) => sql`json_extract_string(_source, ${textLiteral(path + suffix)})`),
      ", ",
    )})`;
  const value = first("");
  // A list of one counts as its value. A text may start with a bracket, too, and is then no list.
  return sql`CASE WHEN ${value} LIKE '[%' THEN coalesce(${first("[0]")}, ${value}) ELSE ${value} END`;
}
