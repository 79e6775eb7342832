/**
 * Fits documents to the fields of a store before they are written: a document is parsed, and accepted or refused as a whole. Writes
 * nothing.
 */
import { getOrAdd } from "@offhook/platform/base/get-or-add";
import {
  type FieldCatalog,
  type FieldType,
  fieldKey,
  type IndexMapping,
  isTimeName,
  metadataFields,
  type NewField,
} from "../fields.ts";
import { coerce, typeOfLeaf } from "./coerce.ts";
import type { ColumnValue } from "./column-value.ts";
import { type FieldValue, type FittedDocument, Shapes } from "./fitted-document.ts";
import { JsonMistake, type Leaf, type LeafField, readLeaves } from "./json-leaves.ts";
import type { DocumentWrite, Fitting, Misfit } from "./log-store.ts";

/** The vendor's `index.mapping.total_fields.limit`. */
export const MAX_FIELDS = 1000;

/** splunkd's name for the time of an event. */
const TIME_ALIAS = "_time";

export class DocumentFitter {
  readonly #fields: FieldCatalog;
  readonly #fitting: Fitting;
  /** By index; `undefined`: all indices without a mapping of their own. */
  readonly #parts = new Map<string | undefined, IndexFitter>();

  constructor(fields: FieldCatalog, fitting: Fitting) {
    this.#fields = fields;
    this.#fitting = fitting;
  }

  /** The fields that the accepted documents add. */
  get added(): NewField[] {
    return [...this.#parts.values()].flatMap(({ added }) => added);
  }

  /** Keys of existing fields that hold several values in one document for the first time. */
  get widened(): ReadonlySet<string> {
    return new Set([...this.#parts.values()].flatMap(({ widened }) => widened));
  }

  /** Keys of existing fields that must become text: a document has a value that their type cannot hold. */
  get texts(): ReadonlySet<string> {
    return new Set([...this.#parts.values()].flatMap(({ texts }) => texts));
  }

  /** Parses a document and fits it to the fields of its index; does not accept it yet. */
  fit(write: Pick<DocumentWrite, "source" | "fitted" | "index">): FittedDocument | Misfit {
    return this.#part(write.index).fit(write);
  }

  /** Accepts a document that fits: later documents are fitted to its fields, too. */
  accept(index: string, document: FittedDocument): void {
    this.#part(index).accept(document);
  }

  #part(index: string): IndexFitter {
    const mapping = this.#fields.indices.get(index);
    const key = mapping && index;
    return getOrAdd(
      this.#parts,
      key,
      () => new IndexFitter(this.#fields.of(index), { fitting: this.#fitting, mapping, index: key }),
    );
  }
}

interface FitOptions {
  fitting: Fitting;
  /** Set when the index has a mapping of its own. */
  mapping: IndexMapping | undefined;
  index: string | undefined;
}

/** The documents of one index, or of all that share the fields of the dataset. */
class IndexFitter {
  readonly #fields: FieldCatalog;
  readonly #options: FitOptions;
  /** Names that are objects: what is before a dot. */
  readonly #objects: Set<string>;
  readonly #added = new Map<string, NewField>();
  readonly #widened = new Set<string>();
  readonly #texts = new Set<string>();
  readonly #shapes = new Shapes();
  /** Field lists of the accepted documents, whose fields are known. */
  readonly #accepted = new Set<readonly NewField[]>();

  constructor(fields: FieldCatalog, options: FitOptions) {
    this.#fields = fields;
    this.#options = options;
    this.#objects = new Set(fields.objects);
  }

  get added(): NewField[] {
    return [...this.#added.values()];
  }

  get widened(): string[] {
    return [...this.#widened].map((name) => fieldKey({ name, index: this.#options.index }));
  }

  get texts(): string[] {
    return [...this.#texts].map((name) => fieldKey({ name, index: this.#options.index }));
  }

  fit({ source, fitted }: Pick<DocumentWrite, "source" | "fitted">): FittedDocument | Misfit {
    if (fitted) return fitted;
    try {
      return this.#fitLeaves(readLeaves(source, this.#options.mapping ? "kept" : "left out"));
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

  accept({ fields }: FittedDocument): void {
    if (this.#accepted.has(fields)) return;
    this.#accepted.add(fields);
    for (const field of fields) {
      const known = this.#known(field.name);
      if (!known) {
        this.#add(field);
        continue;
      }
      if (field.multi && !known.multi) this.#widen(field.name);
      if (this.#options.fitting === "free" && field.type === "text" && known.type !== "text")
        this.#texts.add(field.name);
    }
  }

  #known(name: string): NewField | undefined {
    return this.#fields.get(name) ?? this.#added.get(name);
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

  #fitLeaves(named: readonly LeafField[]): FittedDocument {
    const held = new Map<string, { field: NewField; values: ColumnValue[] }>();
    let room = MAX_FIELDS - this.#fields.size - this.#added.size;
    const time = this.#aliasedTime(named);
    for (const { name: given, leaves } of named) {
      // An event with `_time` keeps what it has under the time field's name in its text alone.
      if (given === time) continue;
      const name = given === TIME_ALIAS && time !== undefined ? time : given;
      const [first] = leaves;
      if (!first) continue;
      for (const target of this.#targetsOf(name, first, { leaves, named })) {
        const known = this.#known(target.name) ?? held.get(target.name)?.field;
        if (!known && room-- <= 0) throw tooMany(target.name, first);
        const field = known ?? target;
        // A mapping may copy several names to one field.
        const { values } = getOrAdd(held, field.name, () => ({ field, values: [] }));
        for (const leaf of leaves) {
          const value = this.#fitLeaf(leaf, field);
          if (value !== undefined) values.push(value);
        }
      }
    }
    let shape = this.#shapes.none;
    const fitted: FieldValue[] = [];
    for (const { field, values } of held.values()) {
      const [value] = values;
      if (value === undefined) continue;
      const multi = values.length > 1;
      shape = this.#shapes.with(shape, field, multi ? "multi" : "single");
      fitted.push(multi ? values : value);
    }
    return { fields: shape.fields, values: fitted };
  }

  /** The fields that the values at a name go to. */
  #targetsOf(
    name: string,
    first: Leaf,
    { leaves, named }: { leaves: readonly Leaf[]; named: readonly LeafField[] },
  ): readonly NewField[] {
    const known = this.#known(name);
    const { mapping } = this.#options;
    if (known && !mapping) return [known];
    const present = leaves.filter(({ kind }) => kind !== "null");
    if (!known && present.length > 0) this.#checkNewField(name, first, named);
    if (!mapping) return [{ name, type: this.#newType(name, first), multi: false }];
    const route = mapping.route(name, present, (one) => this.#known(one));
    if (!("kind" in route)) return route;
    throw new Unfit(first, { ...route, value: jsonOf(first) });
  }

  #fitLeaf(leaf: Leaf, field: NewField): ColumnValue | undefined {
    const { mapping } = this.#options;
    const coerced = mapping ? mapping.coerce(leaf, field) : coerce(leaf, field);
    if ("value" in coerced) return coerced.value;
    const type = field.mapping?.type ?? field.type;
    throw new Unfit(leaf, { ...coerced, field: field.name, type, value: jsonOf(leaf) });
  }

  /** The name of the time field, when it is another than `_time` and the event has its time under `_time`. */
  #aliasedTime(named: readonly LeafField[]): string | undefined {
    const { timeField } = this.#fields;
    if (this.#options.fitting === "mapped" || !timeField || this.#fields.get(TIME_ALIAS)) return undefined;
    return named.some(({ name }) => name === TIME_ALIAS) ? timeField.name : undefined;
  }

  #newType(name: string, leaf: Leaf): FieldType {
    const type = typeOfLeaf(leaf);
    if (this.#options.fitting === "mapped" || type !== "date") return type;
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
    if (this.#options.fitting === "free") return;
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
      const field = this.#known(object);
      if (!field) continue;
      throw new Unfit(leaf, {
        kind: "object_for_value",
        reason: `field [${object}] is of type [${field.mapping?.type ?? field.type}] and cannot hold an object`,
        field: object,
        type: field.mapping?.type ?? field.type,
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

/** The value at a dotted name, as JSON text; empty where the source spreads it over several dotted members. */
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
