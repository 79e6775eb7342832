/** Collapsing: only the best hit of each value of a field is kept. */

import { fieldValue } from "@offhook/log-store/fields";
import { type Sql, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { ContentParser } from "../json/content-parser.ts";
import { integerField, ObjectParser, textField } from "../json/object-parser.ts";
import { indexedValue } from "../query/compile/column.ts";
import { targetOf } from "../query/compile/target.ts";
import type { QueryContext } from "../query/compiled-query.ts";
import { illegalArgument } from "../vendor/error.ts";
import { illegalOnShard } from "../vendor/shard-failure.ts";
import { decimalOf } from "./sort-key.ts";

export interface Collapse {
  field: string;
}

const parser = new ObjectParser<Partial<Collapse>>("collapse", {
  field: textField((field, collapse) => {
    if (field === "") throw illegalArgument("field name is null or empty");
    collapse.field = field;
  }),
  max_concurrent_group_searches: integerField((count) => {
    if (count < 1) throw illegalArgument("maxConcurrentGroupRequests` must be positive");
  }),
  inner_hits: {
    tokens: ["START_OBJECT", "START_ARRAY"],
    read() {
      throw illegalArgument("This twin collapses to one hit of each value: [inner_hits] is not supported");
    },
  },
});

/** The field to collapse by, over `documents AS d`. */
export interface CollapseColumn {
  field: string;
  /** NULL for documents without a value, which collapse to one hit, too. */
  value: Sql;
  /** Whether a document has several values; absent for a single-valued column. */
  isMultiple: Sql | undefined;
  show(value: ResultValue): unknown;
}

/** @throws VendorError for a field that is neither a keyword nor a number */
export function collapseColumn(
  { field: name }: Collapse,
  context: QueryContext,
  index: string,
): CollapseColumn {
  const target = targetOf(context, name, "whole");
  const unfit = (type: string) =>
    illegalOnShard(`collapse is not supported for the field [${name}] of the type [${type}]`, index);
  if (
    (target.kind === "number" || target.kind === "keyword") &&
    target.field.mapping?.hasDocValues === false
  ) {
    throw illegalOnShard(`cannot collapse on field \`${name}\` without \`doc_values\``, index);
  }
  switch (target.kind) {
    case "missing":
      throw illegalOnShard(`no mapping found for \`${name}\` in order to collapse on`, index);
    case "meta":
      throw unfit(name);
    case "words":
      throw unfit("text");
    case "date":
    case "boolean":
    case "ip":
      throw unfit(target.kind);
    case "keyword": {
      const kept = indexedValue(target.field, target.ignoreAbove);
      const { multi } = target.field;
      return {
        field: name,
        value: multi ? sql`list_min(${kept})` : kept,
        isMultiple: multi ? sql`list_unique(${kept}) > 1` : undefined,
        show: (value) => value,
      };
    }
    case "number": {
      const { field } = target;
      const column = fieldValue(field);
      return {
        field: name,
        value: field.multi ? sql`list_min(${column})` : column,
        isMultiple: field.multi ? sql`list_count(${column}) > 1` : undefined,
        show: (value) => (field.type === "double" ? decimalOf(field, Number(value)) : value),
      };
    }
  }
}

/** @throws VendorError */
export function readCollapse(content: ContentParser): Collapse {
  const { field } = parser.parse(content, {});
  if (field === undefined) throw illegalArgument("Required [field]");
  return { field };
}
