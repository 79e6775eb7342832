/** Compares values with what a scenario expects: parts of texts, parts of objects, `*` for any text. */
import { matchesParts } from "@offhook/platform/base/star-pattern";

/** Whether `text` contains `wanted`, ignoring case and punctuation. */
export function containsWords(text: string, wanted: string): boolean {
  return ` ${words(text)} `.includes(` ${words(wanted)} `);
}

function words(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/**
 * The differences between `found` and `wanted`, each as `path: expected …, found …`. Objects may have further members,
 * lists no further items. In a text `*` stands for any text, and `{{tool.path}}` for a value from that tool's result, in
 * which a star is literal.
 */
export function differences(
  wanted: unknown,
  found: unknown,
  path: string,
  results: ReadonlyMap<string, unknown> = new Map(),
): string[] {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length) return [difference(path, wanted, found)];
    return wanted.flatMap((item, index) => differences(item, found[index], `${path}[${index}]`, results));
  }
  if (isRecord(wanted)) {
    if (!isRecord(found)) return [difference(path, wanted, found)];
    return Object.entries(wanted).flatMap(([name, value]) =>
      differences(value, found[name], `${path}.${name}`, results),
    );
  }
  const same =
    typeof wanted === "string" && typeof found === "string"
      ? matchesPattern(wanted, found, results)
      : wanted === found;
  return same ? [] : [difference(path, wanted, found)];
}

function difference(path: string, wanted: unknown, found: unknown): string {
  return `${path}: expected ${show(wanted)}, found ${show(found)}`;
}

/** Formats a value for a message. */
export function show(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}

/** Whether a text matches a pattern in which `*` stands for any text. */
function matchesPattern(wanted: string, found: string, results: ReadonlyMap<string, unknown>): boolean {
  return matchesParts(
    found,
    wanted.split("*").map((part) => fillIn(part, results).text),
  );
}

/**
 * Fills `{{tool.path}}` with a value from the last result of that tool.
 * @returns the text, and the places without a value
 */
export function fillIn(
  text: string,
  results: ReadonlyMap<string, unknown>,
): { text: string; missing: string[] } {
  const missing: string[] = [];
  const filled = text.replace(/\{\{([^{}]+)\}\}/g, (place, inner: string) => {
    const source = inner.trim();
    const [tool = "", ...path] = source.split(".");
    const value = path.reduce((here, step) => (isRecord(here) ? here[step] : undefined), results.get(tool));
    if (value !== undefined && value !== null)
      return typeof value === "string" ? value : JSON.stringify(value);
    missing.push(source);
    return place;
  });
  return { text: filled, missing };
}

/** Applies `fillIn` to every text of a JSON value. */
export function fillInAll(
  value: unknown,
  results: ReadonlyMap<string, unknown>,
): { value: unknown; missing: string[] } {
  if (typeof value === "string") {
    const { text, missing } = fillIn(value, results);
    return { value: text, missing };
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => fillInAll(item, results));
    return { value: items.map((item) => item.value), missing: items.flatMap(({ missing }) => missing) };
  }
  if (!isRecord(value)) return { value, missing: [] };
  const members = Object.entries(value).map(([name, member]) => ({ name, ...fillInAll(member, results) }));
  return {
    value: Object.fromEntries(members.map(({ name, value }) => [name, value])),
    missing: members.flatMap(({ missing }) => missing),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
