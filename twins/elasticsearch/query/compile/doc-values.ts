/** Fields without doc values, which a search neither sorts nor aggregates by. */
import { mappedType } from "../../indices/field-types.ts";
import { illegalOnShard } from "../../vendor/shard-failure.ts";
import type { Target } from "./target.ts";

/** @throws VendorError for a field whose mapping has `doc_values: false` */
export function checkDocValues(target: Target, index: string): void {
  if (!("field" in target) || target.kind === "words" || target.field.mapping?.hasDocValues !== false) return;
  throw illegalOnShard(
    `Can't load fielddata on [${target.name}] because fielddata is unsupported on fields of type [${mappedType(target.field)}]. Use doc values instead.`,
    index,
  );
}

/** Of text that is analysed there are no whole values to sort or aggregate by. */
export function fielddataError(field: string, index: string) {
  return illegalOnShard(
    `Fielddata is disabled on [${field}] in [${index}]. Text fields are not optimised for operations that require per-document field data like aggregations and sorting, so these operations are disabled by default. Please use a keyword field instead. Alternatively, set fielddata=true on [${field}] in order to load field data by uninverting the inverted index. Note that this can use significant memory.`,
    index,
  );
}
