/** What a member of an event may be called: the same for a file that is uploaded and for a document that is written. */
import { joined, type Sql, sql, textLiteral } from "./sql.ts";

const NUL = "\0";

/** What is wrong with a name; `undefined`: nothing. Dots in it stand between names of objects. */
export function brokenNameRule(name: string): string | undefined {
  if (name.trim() === "" || name.startsWith(".") || name.endsWith(".") || name.includes("..")) {
    return "has an empty part";
  }
  return name.includes(NUL) ? "has the character U+0000 in it" : undefined;
}

/** The value of a field as the event's text has it, where that is one value: VARCHAR. Reads `_source`. */
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
  // A list of one is one value; a text may begin like a list.
  return sql`CASE WHEN ${value} LIKE '[%' THEN coalesce(${first("[0]")}, ${value}) ELSE ${value} END`;
}
