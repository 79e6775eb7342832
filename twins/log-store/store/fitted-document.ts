/**
 * Documents as their columns hold them. Those of one shape, with the same fields in the same order, share the list of them: what is
 * decided by a field is decided once for all of them, and while they wait to be stored they hold little more than their values.
 */
import type { NewField } from "../fields.ts";
import type { ColumnValue } from "./column-value.ts";

/** One value; or the several of a field that is `multi`. */
export type FieldValue = ColumnValue | readonly ColumnValue[];

export interface FittedDocument {
  /** The very same list for every document of this shape. A field is `multi` where the document has several values. */
  readonly fields: readonly NewField[];
  /** As many, in the same order. */
  readonly values: readonly FieldValue[];
}

/** What a field has, as a list in any case. */
export function listOf(value: FieldValue): readonly ColumnValue[] {
  return typeof value === "object" ? value : [value];
}

/** Shapes that are remembered; then it begins anew. */
const MOST_SHAPES = 4096;

/** Finds the list that documents of one shape share, field by field. */
export class Shapes {
  #none = new Shape(undefined, undefined);
  #made = 0;

  /** That of a document without fields, which any other begins with. */
  get none(): Shape {
    if (this.#made > MOST_SHAPES) {
      this.#none = new Shape(undefined, undefined);
      this.#made = 0;
    }
    return this.#none;
  }

  /** The shape with one field more. */
  with(shape: Shape, field: Omit<NewField, "multi">, multi: boolean): Shape {
    const known = shape.next(field, multi);
    if (known?.field?.mapping === field.mapping && known) return known;
    this.#made++;
    const { name, type, index, mapping } = field;
    return shape.add(index === undefined ? { name, type, multi } : { name, type, multi, index, mapping });
  }
}

export class Shape {
  readonly #before: Shape | undefined;
  readonly field: NewField | undefined;
  readonly #next = new Map<string, Shape>();
  readonly #nextSeveral = new Map<string, Shape>();
  #fields: readonly NewField[] | undefined;

  constructor(before: Shape | undefined, field: NewField | undefined) {
    this.#before = before;
    this.field = field;
  }

  get fields(): readonly NewField[] {
    this.#fields ??= this.#listed();
    return this.#fields;
  }

  next({ name, type }: Omit<NewField, "multi">, multi: boolean): Shape | undefined {
    const known = (multi ? this.#nextSeveral : this.#next).get(name);
    return known?.field?.type === type ? known : undefined;
  }

  add(field: NewField): Shape {
    const shape = new Shape(this, field);
    (field.multi ? this.#nextSeveral : this.#next).set(field.name, shape);
    return shape;
  }

  #listed(): NewField[] {
    const fields: NewField[] = [];
    let shape: Shape | undefined = this;
    while (shape !== undefined) {
      if (shape.field) fields.push(shape.field);
      shape = shape.#before;
    }
    return fields.reverse();
  }
}
