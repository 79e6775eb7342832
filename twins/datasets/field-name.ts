/** What a member of an event may be called: the same for a file that is uploaded and for a document that is written. */

const NUL = "\0";

/** What is wrong with a name; `undefined`: nothing. Dots in it stand between names of objects. */
export function brokenNameRule(name: string): string | undefined {
  if (name.trim() === "" || name.startsWith(".") || name.endsWith(".") || name.includes("..")) {
    return "has an empty part";
  }
  return name.includes(NUL) ? "has the character U+0000 in it" : undefined;
}
