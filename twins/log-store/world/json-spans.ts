/** Changes members of a JSON text in place: the rest keeps its spelling, such as the digits of its numbers. */
import { isJsonObject, type JsonObject } from "./json-object.ts";

/** An object of the text. */
interface ObjectSpan {
  /** Offset of its closing brace. */
  end: number;
  members: Map<string, MemberSpan>;
}

/** A member's value. */
interface MemberSpan {
  start: number;
  end: number;
  /** Its members, when it is an object. */
  object: ObjectSpan | undefined;
}

/**
 * Sets members. An object among the changes is merged into the object of its name. A dotted name refers to the existing member, nested
 * or dotted; without one it becomes a member of that literal name.
 * @param source a JSON object, known to be well-formed
 */
export function changeMembers(source: string, changes: JsonObject): string {
  let text = source;
  for (const { path, value } of leavesOf(changes, [])) text = setMember(text, path, value);
  return text;
}

interface Change {
  path: string[];
  value: unknown;
}

/** Flattens the changes: each sets a value that is no object with members. */
function leavesOf(changes: JsonObject, path: readonly string[]): Change[] {
  return Object.entries(changes).flatMap(([name, value]): Change[] => {
    const inner = [...path, name];
    if (isJsonObject(value) && Object.keys(value).length > 0) return leavesOf(value, inner);
    return [{ path: inner, value }];
  });
}

function setMember(source: string, path: readonly string[], value: unknown): string {
  const root = spansOf(source);
  const text = JSON.stringify(value);
  const there = find(root, path.join("."));
  if (there) return source.slice(0, there.start) + text + source.slice(there.end);
  // Descends as far as objects exist; the rest of the path is created.
  let object = root;
  let depth = 0;
  for (; depth < path.length - 1; depth++) {
    const inner = object.members.get(path[depth] ?? "");
    if (!inner) break;
    if (!inner.object) {
      const made = nested(path.slice(depth + 1), text);
      return source.slice(0, inner.start) + made + source.slice(inner.end);
    }
    object = inner.object;
  }
  const member = nested(path.slice(depth), text).slice(1, -1);
  const comma = object.members.size > 0 ? "," : "";
  return source.slice(0, object.end) + comma + member + source.slice(object.end);
}

/** `["a", "b"]`, `1` → `{"a":{"b":1}}`. */
function nested(path: readonly string[], text: string): string {
  return path.reduceRight((inner, name) => `{${JSON.stringify(name)}:${inner}}`, text);
}

/** The member of a dotted name, whether it is written nested, dotted, or partly so. */
function find({ members }: ObjectSpan, name: string): MemberSpan | undefined {
  const whole = members.get(name);
  if (whole) return whole;
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const outer = members.get(name.slice(0, dot));
    const inner = outer?.object && find(outer.object, name.slice(dot + 1));
    if (inner) return inner;
  }
  return undefined;
}

function spansOf(source: string): ObjectSpan {
  const reader = { source, at: 0 };
  skipSpace(reader);
  return readObject(reader);
}

interface Reader {
  readonly source: string;
  at: number;
}

const space = /[ \t\n\r]*/y;
const scalar = /"(?:[^"\\]|\\.)*"|[^\s,\]}]+/sy;

function skipSpace(reader: Reader): void {
  space.lastIndex = reader.at;
  space.test(reader.source);
  reader.at = space.lastIndex;
}

function readScalar(reader: Reader): string {
  scalar.lastIndex = reader.at;
  const [text = ""] = scalar.exec(reader.source) ?? [];
  reader.at += text.length;
  return text;
}

function readObject(reader: Reader): ObjectSpan {
  const members = new Map<string, MemberSpan>();
  reader.at++;
  skipSpace(reader);
  while (reader.source[reader.at] !== "}") {
    const name = String(JSON.parse(readScalar(reader)));
    skipSpace(reader);
    reader.at++; // ":"
    members.set(name, readMember(reader));
    skipSpace(reader);
    if (reader.source[reader.at] === ",") reader.at++;
    skipSpace(reader);
  }
  return { end: reader.at++, members };
}

function readMember(reader: Reader): MemberSpan {
  skipSpace(reader);
  const start = reader.at;
  let object: ObjectSpan | undefined;
  if (reader.source[start] === "{") object = readObject(reader);
  else if (reader.source[start] === "[") passArray(reader);
  else readScalar(reader);
  return { start, end: reader.at, object };
}

function passArray(reader: Reader): void {
  reader.at++;
  skipSpace(reader);
  while (reader.source[reader.at] !== "]") {
    readMember(reader);
    skipSpace(reader);
    if (reader.source[reader.at] === ",") reader.at++;
    skipSpace(reader);
  }
  reader.at++;
}
