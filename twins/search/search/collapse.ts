/** Hits collapsed to the best one of each value of a field. */
import { illegal } from "../api/parameters.ts";
import type { ContentParser } from "../json/content-parser.ts";
import { integerField, ObjectParser, textField } from "../json/object-parser.ts";

export interface Collapse {
  field: string;
}

const parser = new ObjectParser<Partial<Collapse>>("collapse", {
  field: textField((field, collapse) => {
    if (field === "") throw illegal("field name is null or empty");
    collapse.field = field;
  }),
  max_concurrent_group_searches: integerField((count) => {
    if (count < 1) throw illegal("maxConcurrentGroupRequests` must be positive");
  }),
  inner_hits: {
    tokens: ["START_OBJECT", "START_ARRAY"],
    read() {
      throw illegal("This twin collapses to one hit of each value: [inner_hits] is not supported");
    },
  },
});

/** @throws VendorError */
export function readCollapse(content: ContentParser): Collapse {
  const { field } = parser.parse(content, {});
  if (field === undefined) throw illegal("Required [field]");
  return { field };
}
