/** Fields of an index that was created with a mapping. */
import type { FieldMapping, FieldType, NewField } from "@offhook/log-store/fields";
import { isFalse } from "../json/flag.ts";
import type { JsonObject } from "../json/read.ts";
import { VendorError } from "../vendor/error.ts";
import { fractionOf } from "./fraction.ts";
import type { FieldNode } from "./mapping-tree.ts";
import type { Normalizer } from "./normalizer.ts";

/** The mapping of a field, declared or added by a document. */
class MappedField implements FieldMapping {
  readonly type: string;
  readonly format: string | undefined;
  readonly keywords: ReadonlyMap<string, number> | undefined;
  readonly node: FieldNode;
  readonly normalize: Normalizer | undefined;
  readonly isSearchable: boolean;
  readonly hasDocValues: boolean;

  readonly nestedIn: string | undefined;

  constructor(node: FieldNode, normalize: Normalizer | undefined, nestedIn: string | undefined) {
    this.normalize = normalize;
    this.nestedIn = nestedIn;
    const columnType = columnTypes.get(node.type);
    this.node = node;
    const { index, doc_values } = node.parameters;
    this.hasDocValues = !isFalse(doc_values);
    this.isSearchable = !isFalse(index) || (columnType !== "text" && this.hasDocValues);
    this.type = node.type;
    this.format = columnType === "date" ? formatOf(node) : undefined;
    this.keywords = columnType === "text" ? wholeValues(node) : undefined;
  }

  fraction(value: number): number {
    return fractionOf(this.type, value, this.node.parameters);
  }
}

/** A field's node in its mapping; `undefined` for a field of the dataset. */
export function nodeOf({ mapping }: Pick<NewField, "mapping">): FieldNode | undefined {
  return mapping instanceof MappedField ? mapping.node : undefined;
}

/** The surroundings that fields of an index refer to. */
export interface FieldPlace {
  readonly index: string;
  readonly normalizers: ReadonlyMap<string, Normalizer>;
  /** Paths of nested objects, innermost first. */
  readonly nested: readonly string[];
}

/**
 * The columns that a value at a name fills: that of the field and those of its sub-fields; none for a type that only
 * the source holds.
 */
export function fieldsOf(name: string, node: FieldNode, place: FieldPlace): NewField[] {
  const own = fieldOf(name, node, place);
  const subs = [...node.fields].flatMap(([sub, inner]) =>
    own?.mapping?.keywords?.has(sub) ? [] : (fieldOf(`${name}.${sub}`, inner, place) ?? []),
  );
  return own ? [own, ...subs] : subs;
}

function fieldOf(
  name: string,
  node: FieldNode,
  { index, normalizers, nested }: FieldPlace,
): NewField | undefined {
  const type = columnTypes.get(node.type);
  if (type === undefined) return undefined;
  const { normalizer } = node.parameters;
  const normalize = normalizer === undefined ? undefined : normalizers.get(String(normalizer));
  if (normalizer !== undefined && !normalize) throw normalizerMissing(String(normalizer), name);
  const nestedIn = nested.find((object) => name.startsWith(`${object}.`));
  return { name, type, multi: false, index, mapping: new MappedField(node, normalize, nestedIn) };
}

function normalizerMissing(normalizer: string, name: string): VendorError {
  const reason = `normalizer [${normalizer}] not found for field [${name}]`;
  const cause = { type: "mapper_parsing_exception", reason };
  return new VendorError(400, { ...cause, reason: `Failed to parse mapping: ${reason}`, caused_by: cause });
}

/** Column types by mapped type; values of all other types are in the source alone. */
const columnTypes = new Map<string, FieldType>([
  ["keyword", "keyword"],
  ["constant_keyword", "keyword"],
  ["wildcard", "keyword"],
  ["ip", "ip"],
  ["text", "text"],
  ["match_only_text", "text"],
  ["long", "long"],
  ["integer", "long"],
  ["short", "long"],
  ["byte", "long"],
  ["unsigned_long", "unsigned_long"],
  ["double", "double"],
  ["float", "double"],
  ["half_float", "double"],
  ["scaled_float", "double"],
  ["boolean", "boolean"],
  ["date", "date"],
  ["date_nanos", "date"],
]);

/** Whether only the source holds values of the field's type. */
export function isSourceOnly({ type }: FieldNode): boolean {
  return !columnTypes.has(type);
}

/** Parameters that give a keyword beside a text a column of its own. */
const ownParameters = ["null_value", "normalizer", "index", "doc_values"];

/** Keyword sub-fields that repeat the values of their text need no column. */
function wholeValues({ fields }: FieldNode): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [name, { type, parameters }] of fields) {
    const plain = ownParameters.every((parameter) => parameters[parameter] === undefined);
    if (columnTypes.get(type) === "keyword" && plain) found.set(name, ignoreAbove(parameters));
  }
  return found;
}

/** Lucene's longest term: the limit of a keyword that sets none. */
const MAX_KEYWORD = 32_766;

/** The longest value that a keyword indexes. */
export function ignoreAbove({ ignore_above }: JsonObject): number {
  return ignore_above === undefined ? MAX_KEYWORD : Number(ignore_above);
}

function formatOf({ parameters }: FieldNode): string | undefined {
  return typeof parameters.format === "string" ? parameters.format : undefined;
}
