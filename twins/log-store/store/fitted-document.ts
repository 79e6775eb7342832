/**
 * Documents fitted to columns. Documents of one shape, with the same fields in the same order, share one list of fields: work per
 * field is done once per shape, and a waiting document holds little more than its values.
 */
import type { NewField } from "../fields.ts";
import type { ColumnValue } from "./column-value.ts";

/** One value, or the values of a `multi` field. */
export type FieldValue = ColumnValue | readonly ColumnValue[];

export interface FittedDocument {
  /** Identical (`===`) for all documents of this shape. A field is `multi` where the document has several values. */
  readonly fields: readonly NewField[];
  /** One per field, in the order of the fields. */
  readonly values: readonly FieldValue[];
}

/** The values of a field, always as a list. */
export function listOf(value: FieldValue): readonly ColumnValue[] {
  return typeof value === "object" ? value : [value];
}

/** Shapes that are remembered; beyond them the memory starts over. */
const MAX_SHAPES = 4096;

/** Whether a document has one value of a field, or several. */
export type Arity = "single" | "multi";

/** A trie of shapes, by their fields. */
export class Shapes {
  #none = new Shape(undefined, undefined);
  #count = 0;

  /** The root: the shape without fields. */
  get none(): Shape {
    if (this.#count > MAX_SHAPES) {
      this.#none = new Shape(undefined, undefined);
      this.#count = 0;
    }
    return this.#none;
  }

  /** The shape with one more field. */
  with(shape: Shape, field: Omit<NewField, "multi">, arity: Arity): Shape {
    const known = shape.next(field, arity);
    if (known?.field?.mapping === field.mapping && known) return known;
    this.#count++;
    const { name, type, index, mapping } = field;
    const multi = arity === "multi";
    return shape.add(index === undefined ? { name, type, multi } : { name, type, multi, index, mapping });
  }
}

export class Shape {
  readonly #before: Shape | undefined;
  readonly field: NewField | undefined;
  readonly #next = new Map<string, Shape>();
  readonly #nextMulti = new Map<string, Shape>();
  #fields: readonly NewField[] | undefined;

  constructor(before: Shape | undefined, field: NewField | undefined) {
    this.#before = before;
    this.field = field;
  }

  get fields(): readonly NewField[] {
    this.#fields ??= this.#listFields();
    return this.#fields;
  }

  next({ name, type }: Omit<NewField, "multi">, arity: Arity): Shape | undefined {
    const known = (arity === "multi" ? this.#nextMulti : this.#next).get(name);
    return known?.field?.type === type ? known : undefined;
  }

  add(field: NewField): Shape {
    const shape = new Shape(this, field);
    (field.multi ? this.#nextMulti : this.#next).set(field.name, shape);
    return shape;
  }

  #listFields(): NewField[] {
    const fields: NewField[] = [];
    let shape: Shape | undefined = this;
    while (shape !== undefined) {
      if (shape.field) fields.push(shape.field);
      shape = shape.#before;
    }
    return fields.reverse();
  }
}
