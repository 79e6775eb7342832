/**
 * Parses one JSON event (https://www.rfc-editor.org/rfc/rfc8259), byte by byte, into the values of its columns: objects are flattened
 * to dotted names, an array becomes several values of one column, numbers keep their digits. `null`, `[]` and `{}` are no values.
 */
import { brokenNameRule } from "../field-name.ts";
import { MAX_OBJECT_DEPTH } from "../store/json-leaves.ts";
import type { FieldNode, FieldTree } from "./field-tree.ts";
import { readStringBytes } from "./json-string.ts";
import { EventProblem } from "./problems.ts";
import { MAX_FIELDS, type ValueKinds } from "./row-reader.ts";
import type { RowValues } from "./row-values.ts";

/** Deepest nesting of an event, objects and lists. */
const MAX_DEPTH = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const LETTER_T = 0x74;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;

const literals = {
  true: Buffer.from("true"),
  false: Buffer.from("false"),
  null: Buffer.from("null"),
};

/** Members that belong to the document, not to the event, when they have one value. */
const documentNames: ReadonlySet<string> = new Set(["_id", "_index"]);
const UNDERSCORE = 0x5f;

export class EventParser {
  /** Ranges of the members that belong to the document, in their order. */
  documentMembers: { start: number; end: number }[] = [];
  readonly #tree: FieldTree;
  readonly #values: RowValues;
  #bytes: Uint8Array = Buffer.alloc(0);
  #at = 0;
  #end = 0;
  #depth = 0;
  /** Of these levels, the objects. */
  #objectDepth = 0;
  #objects = 0;

  constructor(tree: FieldTree, values: RowValues) {
    this.#tree = tree;
    this.#values = values;
  }

  /** Reads `bytes` from `start` to `end`, which must be one object and nothing else. @throws EventProblem */
  parse(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#depth = 0;
    this.#objectDepth = 0;
    this.documentMembers = [];
    this.#space();
    if (this.#peek() !== OPEN_OBJECT) throw this.#problem(this.#notAnEvent());
    this.#object(this.#tree.root);
    this.#space();
    if (this.#at < this.#end) throw this.#problem("a line holds one object, and nothing after it");
  }

  #notAnEvent(): string {
    if (this.#peek() === OPEN_ARRAY)
      return "each line must be one JSON object; an array of events is not NDJSON";
    return "each line must be one JSON object";
  }

  #object(node: FieldNode): void {
    if (++this.#objectDepth > MAX_OBJECT_DEPTH) {
      throw this.#problem(`objects are nested deeper than ${MAX_OBJECT_DEPTH} levels`);
    }
    this.#enter();
    const object = ++this.#objects;
    let before: FieldNode | undefined;
    if (this.#peek() !== CLOSE_OBJECT) {
      do {
        before = this.#member(node, before, object);
      } while (this.#another(CLOSE_OBJECT, 'after a member comes "," or "}"'));
    }
    this.#objectDepth--;
    this.#leave();
  }

  #member(parent: FieldNode, before: FieldNode | undefined, object: number): FieldNode {
    this.#space();
    const nameAt = this.#at;
    const member = this.#name(parent, before);
    if (member.seenIn === object) {
      throw new EventProblem(nameAt, `the object has "${truncate(member.path)}" twice`);
    }
    member.seenIn = object;
    this.#space();
    if (this.#peek() !== COLON) throw this.#problem('after a name comes ":"');
    this.#at++;
    this.#value(member);
    if (this.#depth === 1 && this.#bytes[nameAt + 1] === UNDERSCORE) this.#setApart(member, nameAt);
    return member;
  }

  #setApart({ path }: FieldNode, start: number): void {
    const last = this.#bytes[this.#at - 1];
    if (!documentNames.has(path) || last === CLOSE_OBJECT) return;
    if (last === CLOSE_ARRAY) throw new EventProblem(start, `"${path}" is the document's, and has one value`);
    this.documentMembers.push({ start, end: this.#at });
  }

  /** Whether another item follows, after a comma. */
  #another(close: number, rule: string): boolean {
    this.#space();
    const byte = this.#peek();
    if (byte === close) return false;
    if (byte !== COMMA) throw this.#problem(rule);
    this.#at++;
    return true;
  }

  /** Reads a name, after trying the one that the previous line had here. */
  #name(parent: FieldNode, before: FieldNode | undefined): FieldNode {
    if (this.#peek() !== QUOTE) throw this.#problem("a name in quotes must stand here");
    const start = this.#at + 1;
    const likely = before ? before.next : parent.first;
    if (likely && this.#isAt(likely.bytes, start)) {
      this.#at = start + likely.bytes.length + 1;
      return likely;
    }
    const { bytes, from, to } = this.#string();
    const name = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("utf8");
    if (name === "") throw new EventProblem(start - 1, "a member must have a name");
    const node = parent.children.get(name) ?? this.#newName(parent, name, start);
    if (before) before.next = node;
    else parent.first = node;
    return node;
  }

  #newName(parent: FieldNode, name: string, start: number): FieldNode {
    const rule = brokenNameRule(name);
    if (rule !== undefined)
      throw new EventProblem(start - 1, `the name ${JSON.stringify(truncate(name))} ${rule}`);
    return this.#tree.child(parent, name, this.#bytes.subarray(start, this.#at - 1));
  }

  #isAt(name: Uint8Array, at: number): boolean {
    const bytes = this.#bytes;
    if (at + name.length >= this.#end || bytes[at + name.length] !== QUOTE) return false;
    for (let index = 0; index < name.length; index++) if (bytes[at + index] !== name[index]) return false;
    return true;
  }

  #value(node: FieldNode): void {
    this.#space();
    const start = this.#at;
    switch (this.#peek()) {
      case QUOTE: {
        const { bytes, from, to } = this.#string();
        this.#add(node, "text", bytes, from, to, start);
        break;
      }
      case OPEN_OBJECT:
        this.#object(node);
        break;
      case OPEN_ARRAY:
        this.#array(node);
        break;
      case LETTER_T:
        this.#literal(literals.true);
        this.#add(node, "boolean", this.#bytes, start, this.#at, start);
        break;
      case LETTER_F:
        this.#literal(literals.false);
        this.#add(node, "boolean", this.#bytes, start, this.#at, start);
        break;
      case LETTER_N:
        this.#literal(literals.null);
        break;
      default:
        this.#number();
        this.#add(node, "number", this.#bytes, start, this.#at, start);
    }
  }

  #array(node: FieldNode): void {
    this.#enter();
    if (this.#peek() !== CLOSE_ARRAY) {
      do this.#value(node);
      while (this.#another(CLOSE_ARRAY, 'after a value comes "," or "]"'));
    }
    this.#leave();
  }

  #literal(literal: Uint8Array): void {
    for (let index = 0; index < literal.length; index++) {
      if (this.#at + index >= this.#end || this.#bytes[this.#at + index] !== literal[index]) {
        throw this.#problem("a JSON value must stand here");
      }
    }
    this.#at += literal.length;
  }

  #number(): void {
    const start = this.#at;
    if (this.#peek() === MINUS) this.#at++;
    if (this.#peek() === ZERO) this.#at++;
    else if (this.#digits() === 0) {
      this.#at = start;
      throw this.#problem("a JSON value must stand here");
    }
    if (this.#peek() === POINT) {
      this.#at++;
      if (this.#digits() === 0) throw this.#problem("a digit must stand here");
    }
    if ((this.#peek() | 0x20) === 0x65) {
      this.#at++;
      if (this.#peek() === PLUS || this.#peek() === MINUS) this.#at++;
      if (this.#digits() === 0) throw this.#problem("a digit must stand here");
    }
  }

  #digits(): number {
    const start = this.#at;
    while (this.#at < this.#end) {
      const byte = this.#bytes[this.#at] ?? 0;
      if (byte < 0x30 || byte > 0x39) break;
      this.#at++;
    }
    return this.#at - start;
  }

  /** Reads a string. The result refers to the line itself, unless the string has escapes. */
  #string(): { bytes: Uint8Array; from: number; to: number } {
    const bytes = this.#bytes;
    const from = this.#at + 1;
    for (let at = from; at < this.#end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return { bytes, from, to: at };
      }
      if (byte === BACKSLASH) return this.#escapedString(from);
      if (byte < 0x20) throw new EventProblem(at, "a control character in a string must be escaped");
    }
    throw this.#problem("the string that begins here does not end on this line");
  }

  #escapedString(from: number): { bytes: Uint8Array; from: number; to: number } {
    const { text, end } = readStringBytes(this.#bytes, from, this.#end);
    this.#at = end;
    return { bytes: text, from: 0, to: text.length };
  }

  #add(
    node: FieldNode,
    kind: keyof ValueKinds,
    bytes: Uint8Array,
    from: number,
    to: number,
    at: number,
  ): void {
    const column = this.#tree.columnOf(node);
    if (column === undefined) {
      throw new EventProblem(
        at,
        `"${truncate(node.path)}" is one field too many: a dataset has at most ${MAX_FIELDS}`,
      );
    }
    const staged = this.#tree.columns[column];
    if (!staged) return;
    staged.kinds[kind] = true;
    if (this.#values.add(column, bytes, from, to)) staged.multi = true;
  }

  /** Skips an opening bracket or brace. */
  #enter(): void {
    if (++this.#depth > MAX_DEPTH) throw this.#problem(`the event is nested deeper than ${MAX_DEPTH} levels`);
    this.#at++;
    this.#space();
  }

  /** Skips a closing bracket or brace. */
  #leave(): void {
    this.#depth--;
    this.#at++;
  }

  #space(): void {
    while (this.#at < this.#end) {
      const byte = this.#bytes[this.#at] ?? 0;
      if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a) return;
      this.#at++;
    }
  }

  /** The next byte; -1 at the end. */
  #peek(): number {
    return this.#at < this.#end ? (this.#bytes[this.#at] ?? -1) : -1;
  }

  #problem(rule: string): EventProblem {
    return new EventProblem(this.#at, this.#at >= this.#end ? `the line ends too early: ${rule}` : rule);
  }
}

const truncate = (name: string) => name.slice(0, 100);
