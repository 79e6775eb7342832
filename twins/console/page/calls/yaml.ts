/** Writes YAML: block style, texts plain where nothing can be misread, quoted as JSON otherwise. */

/** A value with a remark behind it. */
export class Remarked {
  readonly value: unknown;
  readonly remark: string;

  constructor(value: unknown, remark: string) {
    this.value = value;
    this.remark = remark;
  }
}

/** The lines of a mapping's members; those that are `undefined` are left out. */
export function writeMembers(members: Record<string, unknown>, depth = 0): string[] {
  const indent = "  ".repeat(depth);
  return Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : writeAfter(`${indent}${writeText(name)}:`, value, depth),
  );
}

/** A value behind `NAME:`, on the same line where it is short, below it otherwise. */
function writeAfter(head: string, value: unknown, depth: number): string[] {
  if (Array.isArray(value) && value.length > 0) {
    return [head, ...value.flatMap((item) => writeItem(item, depth + 1))];
  }
  if (isMapping(value) && Object.keys(value).length > 0) return [head, ...writeMembers(value, depth + 1)];
  return [`${head} ${writeScalar(value)}`];
}

function writeItem(item: unknown, depth: number): string[] {
  const indent = "  ".repeat(depth);
  if (isMapping(item) && Object.values(item).some((value) => value !== undefined)) {
    const [first = "", ...rest] = writeMembers(item, depth + 1);
    return [`${indent}- ${first.trimStart()}`, ...rest];
  }
  if (Array.isArray(item) && item.length > 0) {
    return [`${indent}-`, ...item.flatMap((each) => writeItem(each, depth + 1))];
  }
  return [`${indent}- ${writeScalar(item)}`];
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Remarked);
}

function writeScalar(value: unknown): string {
  if (value instanceof Remarked) {
    return `${writeScalar(value.value)} # ${value.remark.replace(/\s+/g, " ").trim()}`;
  }
  if (typeof value === "string") return writeText(value);
  return JSON.stringify(value) ?? "null";
}

/** Letters, digits and marks that mean nothing in YAML, with single blanks within. */
const PLAIN = /^[\p{L}][\p{L}\p{N}_./()'-]*( [\p{L}\p{N}_./()'-]+)*$/u;
/** Words that readers of YAML 1.1 or 1.2 take for something else. */
const RESERVED = /^(y|n|yes|no|true|false|on|off|null|nan|inf)$/i;

function writeText(text: string): string {
  return PLAIN.test(text) && !RESERVED.test(text) ? text : quote(text);
}

/** A JSON string is a YAML string, but for characters that YAML does not print. */
function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The text of a file's top-level members by name, each with its name and as it stands there. */
export function sectionsOf(text: string): Map<string, string> {
  const sections = new Map<string, string>();
  let name: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const start = /^([A-Za-z_][\w-]*):(\s|$)/.exec(line);
    if (start) name = start[1];
    // A remark at the left edge belongs to what follows.
    else if (/^\S/.test(line)) name = undefined;
    if (name === undefined) continue;
    const before = sections.get(name);
    sections.set(name, before === undefined ? line : `${before}\n${line}`);
  }
  return new Map([...sections].map(([each, section]) => [each, section.trimEnd()]));
}

/** Whether a part of a file stands for itself: an anchor elsewhere in the file would be missing from it. */
export function hasAnchors(text: string): boolean {
  return /(^|[\s[{,])[&]\w/m.test(text);
}
