/** A value as its column holds it, or why the column cannot hold it. */

/** A date is in microseconds since the Unix epoch. */
export type ColumnValue = string | number | bigint | boolean;

/** `value` is `undefined` for text that counts as no value, such as an empty string in a number field. */
export type Coerced = { value: ColumnValue | undefined } | { kind: MisfitKind; reason: string };

/**
 * Why a document does not fit:
 * - `malformed_json`: its text is no JSON object.
 * - `not_a_number`, `out_of_range`, `not_finite`, `not_a_boolean`, `not_a_date`, `not_an_address`: the field's type cannot hold the value.
 * - `value_for_object`: a value where documents have an object. `object_for_value`: the reverse.
 * - `bad_field_name`: empty, or with an empty part between dots. `metadata_field`: a name that the vendor reserves.
 * - `strict`: a new name where the mapping of the index allows none.
 * - `mapping_conflict`: the values of a new field would make fields of different types.
 * - `too_many_fields`: a new field beyond the limit. `too_deep`: objects nested beyond the limit.
 */
export type MisfitKind =
  | "malformed_json"
  | "not_a_number"
  | "out_of_range"
  | "not_finite"
  | "not_a_boolean"
  | "not_a_date"
  | "not_an_address"
  | "value_for_object"
  | "object_for_value"
  | "bad_field_name"
  | "metadata_field"
  | "strict"
  | "too_many_fields"
  | "mapping_conflict"
  | "too_deep";
