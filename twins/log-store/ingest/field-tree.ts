/** The names that the events of a file have, as a tree: which column a path belongs to, found without making text of it. */
import { MAX_FIELDS, type StagedColumn } from "./row-reader.ts";

export class FieldNode {
  /** Dotted path; empty for the event itself. */
  readonly path: string;
  /** The name as it stands between its quotes. */
  readonly bytes: Uint8Array;
  /** Number of its column; -1 until it has a value. */
  column = -1;
  /** The object in which it was seen last: no object has two members of one name. */
  seenIn = 0;
  /** The member that came first, and the one that came after this one, in the object before: often they do again. */
  first: FieldNode | undefined;
  next: FieldNode | undefined;
  readonly children = new Map<string, FieldNode>();

  constructor(path: string, bytes: Uint8Array) {
    this.path = path;
    this.bytes = bytes;
  }
}

export class FieldTree {
  readonly root = new FieldNode("", new Uint8Array());
  readonly columns: StagedColumn[] = [];
  /** Two paths can have one dotted name: `{"a.b": 1}` and `{"a": {"b": 1}}`. */
  readonly #byName = new Map<string, number>();

  /** The member of this name, which may be new. @param bytes the name as it stands, kept when it is new */
  child(parent: FieldNode, name: string, bytes: Uint8Array): FieldNode {
    let child = parent.children.get(name);
    if (!child) {
      child = new FieldNode(parent.path === "" ? name : `${parent.path}.${name}`, Uint8Array.from(bytes));
      parent.children.set(name, child);
    }
    return child;
  }

  /** The column of a path that has a value. `undefined`: there is no room for another. */
  columnOf(node: FieldNode): number | undefined {
    if (node.column >= 0) return node.column;
    let column = this.#byName.get(node.path);
    if (column === undefined) {
      if (this.columns.length >= MAX_FIELDS) return undefined;
      column = this.columns.length;
      const kinds = { cell: false, text: false, number: false, boolean: false };
      this.columns.push({ name: node.path, kinds, multi: false });
      this.#byName.set(node.path, column);
    }
    node.column = column;
    return column;
  }
}
