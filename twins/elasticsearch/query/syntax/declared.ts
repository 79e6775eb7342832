/** Clauses that the vendor reads by declared members, like bodies. */
import type { ContentParser } from "../../json/content-parser.ts";
import { type Field, floatField, type ObjectParser, textField } from "../../json/object-parser.ts";
import { VendorError } from "../../vendor/error.ts";
import { positiveBoost } from "./options.ts";

interface Common {
  boost: number | undefined;
  _name: string | undefined;
}

/** `boost` and `_name`, which every clause has. */
export function commonFields(clause: string): Record<keyof Common, Field<Common>> {
  return {
    boost: floatField((boost, common) => {
      common.boost = positiveBoost(boost, clause);
    }),
    _name: textField((name, common) => {
      common._name = name;
    }),
  };
}

/** Parses a clause whose errors the vendor wraps in one of the query. @throws VendorError `parsing_exception` */
export function parseAsQuery<Target>(
  parser: ObjectParser<Target>,
  content: ContentParser,
  target: Target,
): Target {
  try {
    return parser.parse(content, target);
  } catch (error) {
    if (error instanceof VendorError) throw content.error(error.message, error.cause);
    throw error;
  }
}
