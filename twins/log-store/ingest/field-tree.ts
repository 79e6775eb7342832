/** The names in the events of a file, as a tree: it finds the column of a path without decoding names to strings. */
import { MAX_FIELDS, type StagedColumn } from "./row-reader.ts";

export class FieldNode {
  /** Dotted path; empty for the event itself. */
  readonly path: string;
  /** The name as it is spelled between its quotes. */
  readonly bytes: Uint8Array;
  /** Number of its column; -1 until it has a value. */
  column = -1;
  /** Number of the object that had it last, to detect duplicate members. */
  seenIn = 0;
  /** Predictions from the previous event: the first member of this object, and the member after this one. */
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

  /** Finds or adds the member of a name. @param bytes the name as it is spelled */
  child(parent: FieldNode, name: string, bytes: Uint8Array): FieldNode {
    let child = parent.children.get(name);
    if (!child) {
      child = new FieldNode(parent.path === "" ? name : `${parent.path}.${name}`, Uint8Array.from(bytes));
      parent.children.set(name, child);
    }
    return child;
  }

  /** Finds or adds the column of a path. `undefined`: there are too many columns. */
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
