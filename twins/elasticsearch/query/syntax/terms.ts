/** `terms`, `terms_set` and `ids`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-terms-query.html */
import type { ContentParser } from "../../json/content-parser.ts";
import { ObjectParser, textField, textsField } from "../../json/object-parser.ts";
import { illegalArgument, type VendorError } from "../../vendor/error.ts";
import { conversionError, shardError } from "../errors.ts";
import { commonFields, parseAsQuery } from "./declared.ts";
import { common, commonOf, eachMember, OptionTable, text, unknownToken, unsupported } from "./options.ts";
import type { Parser } from "./parser.ts";
import type { IdsQuery, Scalar, TermsQuery, TermsSetQuery } from "./query.ts";

/** `index.max_terms_count` */
const MAX_TERMS = 65_536;

export function readTerms(parser: Parser): TermsQuery {
  const { content } = parser;
  const table = new OptionTable(parser, common);
  let field: string | undefined;
  let values: Scalar[] = [];
  eachMember(content, () => {
    if (content.token === "START_ARRAY") {
      if (field !== undefined) throw content.error("[terms] query does not support multiple fields");
      field = content.name;
      values = readTermList(content);
    } else if (content.token === "START_OBJECT") {
      if (field !== undefined) {
        throw content.error(
          `[terms] query does not support more than one field. Already got: [${field}] but also found [${content.name}]`,
        );
      }
      throw refusedLookup(content);
    } else if (!content.isValue) {
      throw unknownToken(content, "terms");
    } else if (!table.take()) {
      throw unsupported(content, "terms");
    }
  });
  if (field === undefined) {
    throw content.error(
      "[terms] query requires a field name, followed by array of terms or a document lookup specification",
    );
  }
  if (values.length > MAX_TERMS) throw tooManyTerms(values.length);
  return { kind: "terms", field, values, ...commonOf(table.options, "terms") };
}

interface Lookup {
  index?: string;
  id?: string;
  path?: string;
}

const lookupParser = new ObjectParser<Lookup>("terms_lookup", {
  index: textField((index, lookup) => {
    lookup.index = index;
  }),
  id: textField((id, lookup) => {
    lookup.id = id;
  }),
  path: textField((path, lookup) => {
    lookup.path = path;
  }),
  routing: textField(() => undefined),
});

/** The error for a terms lookup, which the twin does not support. @throws VendorError for an invalid lookup */
function refusedLookup(content: ContentParser): VendorError {
  const { name } = content;
  const lookup = lookupParser.parse(content, {});
  const missing = (["index", "id", "path"] as const).filter((member) => lookup[member] === undefined);
  if (missing.length > 0) return illegalArgument(`Required [${missing.join(", ")}]`);
  return illegalArgument(
    `[terms] lookup of terms in another document is not supported: write the values of [${name}] themselves`,
  );
}

/** Reads terms up to the first end of a list. As in the vendor, names and brackets inside count as values. */
function readTermList(content: ContentParser): Scalar[] {
  const values: Scalar[] = [];
  while (content.next() !== "END_ARRAY") {
    const value = content.scalarOrBracket();
    if (value === undefined) throw content.error("No value specified for terms query");
    values.push(value);
  }
  return values;
}

function tooManyTerms(count: number) {
  return shardError(
    `failed to create query: The number of terms [${count}] used in the Terms Query request has exceeded the allowed maximum of [${MAX_TERMS}]. This maximum can be set by changing the [index.max_terms_count] index level setting.`,
  );
}

const termsSetReaders = { minimum_should_match_field: text, ...common };

export function readTermsSet(parser: Parser): TermsSetQuery {
  const { content } = parser;
  const table = new OptionTable(parser, termsSetReaders);
  const expected = ["FIELD_NAME", "START_OBJECT"];
  for (const token of expected) {
    if (content.next() !== token) throw content.error(`[terms_set] unknown token [${content.token}]`);
  }
  const field = content.name;
  let terms: Scalar[] = [];
  eachMember(content, () => {
    if (content.token === "START_ARRAY" && content.name === "terms") terms = readTermList(content);
    else if (content.token === "START_OBJECT" && content.name === "minimum_should_match_script") {
      throw illegalArgument(
        "[terms_set] scripts are not run: name a field that holds the number with [minimum_should_match_field]",
      );
    } else if (content.token === "START_ARRAY" || content.token === "START_OBJECT") {
      throw unsupported(content, "terms_set");
    } else if (!content.isValue) throw unknownToken(content, "terms_set");
    else if (!table.take()) throw unsupported(content, "terms_set");
  });
  if (content.next() !== "END_OBJECT") throw content.error(`[terms_set] unknown token [${content.token}]`);
  const { minimum_should_match_field: minimumField } = table.options;
  if (minimumField === undefined && terms.length > 0) {
    throw conversionError("No minimum should match has been specified", "illegal_state_exception");
  }
  return {
    kind: "terms_set",
    field,
    terms,
    minimumField: minimumField ?? "",
    ...commonOf(table.options, "terms_set"),
  };
}

interface Ids {
  values: string[];
  boost: number | undefined;
  _name: string | undefined;
}

const idsParser = new ObjectParser<Ids>("ids", {
  values: textsField((values, ids) => {
    ids.values = values;
  }),
  ...commonFields("ids"),
});

export function readIds({ content }: Parser): IdsQuery {
  const ids: Ids = { values: [], boost: undefined, _name: undefined };
  parseAsQuery(idsParser, content, ids);
  return { kind: "ids", values: ids.values, ...commonOf(ids, "ids") };
}
