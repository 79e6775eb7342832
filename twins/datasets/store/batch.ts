/**
 * Documents on their way into the store: each is read, fitted to the fields there are, and either taken whole or refused whole. Nothing
 * is written here.
 */
import { type FieldCatalog, type FieldType, isTimeName, metadataFields, type NewField } from "../fields.ts";
import { type ColumnValue, coerce, typeOfLeaf } from "./coerce.ts";
import { type FieldValue, type FittedDocument, Shapes } from "./fitted.ts";
import { JsonMistake, type Leaf, type LeafField, readLeaves } from "./json-leaves.ts";
import type { DocumentWrite, Fitting, Misfit } from "./log-store.ts";

/** The vendor's `index.mapping.total_fields.limit`. */
export const MAX_FIELDS = 1000;

export class Batch {
  readonly #fields: FieldCatalog;
  readonly #fitting: Fitting;
  /** Names that are objects: what is before a dot. */
  readonly #objects: Set<string>;
  readonly #added = new Map<string, NewField>();
  readonly #widened = new Set<string>();
  readonly #shapes = new Shapes();
  /** Of the documents taken so far. */
  readonly #taken = new Set<readonly NewField[]>();

  constructor(fields: FieldCatalog, fitting: Fitting) {
    this.#fields = fields;
    this.#fitting = fitting;
    this.#objects = new Set(fields.objects);
  }

  /** The fields that the documents taken so far add. */
  get added(): NewField[] {
    return [...this.#added.values()];
  }

  /** Names of the fields there are that get several values in one document for the first time. */
  get widened(): ReadonlySet<string> {
    return this.#widened;
  }

  /** Reads a document and fits it to the fields; does not take it yet. */
  fit({ source, fitted }: Pick<DocumentWrite, "source" | "fitted">): FittedDocument | Misfit {
    if (fitted) return fitted;
    try {
      return this.#fit(readLeaves(source));
    } catch (error) {
      if (error instanceof Unfit) {
        const { misfit, offset } = error;
        const value = misfit.kind === "object_for_value" ? memberText(source, misfit.field) : misfit.value;
        return { ...misfit, value, ...placeOf(source, offset) };
      }
      if (!(error instanceof JsonMistake)) throw error;
      const { kind, message, offset, field = "" } = error;
      return { kind, reason: message, field, type: "", value: "", ...placeOf(source, offset) };
    }
  }

  /** Takes a document that fits: its fields are there for the next. */
  take({ fields }: FittedDocument): void {
    if (this.#taken.has(fields)) return;
    this.#taken.add(fields);
    for (const field of fields) {
      const known = this.#fields.get(field.name) ?? this.#added.get(field.name);
      if (!known) this.#add(field);
      else if (field.multi && !known.multi) this.#widen(field.name);
    }
  }

  #add(field: NewField): void {
    this.#added.set(field.name, field);
    for (const object of objectsOf(field.name)) this.#objects.add(object);
  }

  #widen(name: string): void {
    const added = this.#added.get(name);
    if (added) this.#added.set(name, { ...added, multi: true });
    else this.#widened.add(name);
  }

  #fit(fields: readonly LeafField[]): FittedDocument {
    let shape = this.#shapes.none;
    const fitted: FieldValue[] = [];
    let room = MAX_FIELDS - this.#fields.size - this.#added.size;
    for (const { name, leaves } of fields) {
      const known = this.#fields.get(name) ?? this.#added.get(name);
      const [first] = leaves;
      if (!first) continue;
      if (!known) {
        this.#checkNewField(name, first, fields);
        if (room-- <= 0) throw tooMany(name, first);
      }
      const type = known?.type ?? this.#newType(name, first);
      const values = leaves.map((leaf) => fitLeaf(name, leaf, type)).filter((value) => value !== undefined);
      const [value] = values;
      if (value === undefined) continue;
      const multi = values.length > 1;
      shape = this.#shapes.with(shape, name, type, multi);
      fitted.push(multi ? values : value);
    }
    return { fields: shape.fields, values: fitted };
  }

  #newType(name: string, leaf: Leaf): FieldType {
    const type = typeOfLeaf(leaf);
    if (this.#fitting === "mapped" || type !== "date") return type;
    return this.#hasTime || !isTimeName(name) ? "text" : "date";
  }

  get #hasTime(): boolean {
    if (this.#fields.timeField) return true;
    return [...this.#added.values()].some(({ type }) => type === "date");
  }

  #checkNewField(name: string, leaf: Leaf, fields: readonly LeafField[]): void {
    if (metadataFields.has(name)) {
      throw new Unfit(leaf, {
        kind: "metadata_field",
        reason: `Field [${name}] is a metadata field and cannot be added inside a document. Use the index API request parameters.`,
        field: name,
        type: "",
        value: jsonOf(leaf),
      });
    }
    if (this.#fitting === "free") return;
    if (this.#objects.has(name) || fields.some((other) => other.name.startsWith(`${name}.`))) {
      throw new Unfit(leaf, {
        kind: "value_for_object",
        reason: `object mapping for [${name}] tried to parse field [${name}] as object, but found a concrete value`,
        field: name,
        type: "object",
        value: jsonOf(leaf),
      });
    }
    for (const object of objectsOf(name)) {
      const field = this.#fields.get(object) ?? this.#added.get(object);
      if (!field) continue;
      throw new Unfit(leaf, {
        kind: "object_for_value",
        reason: `field [${object}] is of type [${field.type}] and cannot hold an object`,
        field: object,
        type: field.type,
        value: "",
      });
    }
  }
}

class Unfit extends Error {
  readonly misfit: Omit<Misfit, "line" | "column">;
  readonly offset: number;
  constructor(leaf: Leaf, misfit: Omit<Misfit, "line" | "column">) {
    super(misfit.reason);
    this.misfit = misfit;
    this.offset = leaf.offset;
  }
}

function fitLeaf(name: string, leaf: Leaf, type: FieldType): ColumnValue | undefined {
  const coerced = coerce(leaf, type);
  if ("value" in coerced) return coerced.value;
  throw new Unfit(leaf, { ...coerced, field: name, type, value: jsonOf(leaf) });
}

function tooMany(name: string, leaf: Leaf): Unfit {
  return new Unfit(leaf, {
    kind: "too_many_fields",
    reason: `Limit of total fields [${MAX_FIELDS}] has been exceeded while adding new fields [1]`,
    field: name,
    type: "",
    value: jsonOf(leaf),
  });
}

function jsonOf({ kind, text }: Leaf): string {
  return kind === "string" ? JSON.stringify(text) : text;
}

/** What stands at a dotted name, as JSON text; empty where the source spreads it over several dotted members. */
function memberText(source: string, name: string): string {
  let value: unknown = JSON.parse(source);
  for (const part of name.split(".")) {
    const members: [string, unknown][] =
      typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
    value = members.find(([member]) => member === part)?.[1];
  }
  return value === undefined ? "" : JSON.stringify(value);
}

/** `a.b.c` → `a`, `a.b`. */
function objectsOf(name: string): string[] {
  const objects: string[] = [];
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1))
    objects.push(name.slice(0, dot));
  return objects;
}

function placeOf(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}
