/**
 * Which fields are highlighted, and how.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/highlighting.html
 */

import { contentError } from "../json/content-error.ts";
import type { ContentParser } from "../json/content-parser.ts";
import {
  type Field,
  flagField,
  integerField,
  ObjectParser,
  objectField,
  textField,
  textsField,
} from "../json/object-parser.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { illegalOnShard } from "../vendor/shard-failure.ts";

export interface HighlightOptions {
  preTags: readonly string[];
  postTags: readonly string[];
  fragmentSize: number;
  /** 0: the whole text, unfragmented. */
  numberOfFragments: number;
  /** Mark only terms that were searched for in this field. */
  requireFieldMatch: boolean;
  /** Characters shown of a text without a match. */
  noMatchSize: number;
  order: "none" | "score";
  encoder: "default" | "html";
  /** The highlighter: `unified`, `plain` or `fvh`. */
  type: string;
}

export interface Highlight {
  fields: { pattern: string; options: HighlightOptions }[];
}

const defaults: HighlightOptions = {
  preTags: ["<em>"],
  postTags: ["</em>"],
  fragmentSize: 100,
  numberOfFragments: 5,
  requireFieldMatch: true,
  noMatchSize: 0,
  order: "none",
  encoder: "default",
  type: "unified",
};

/** The options given in one place: for the whole highlight, or for one field. */
type Written = Partial<HighlightOptions>;

interface WrittenHighlight {
  shared: Written;
  fields: { pattern: string; options: Written }[];
}

/** Reads the options; a field inherits those that it does not set. @throws VendorError */
export function readHighlight(content: ContentParser): Highlight {
  const written: WrittenHighlight = { shared: {}, fields: [] };
  highlightParser.parse(content, written);
  checkTags(written.shared, content);
  const { shared } = written;
  return {
    fields: written.fields.map(({ pattern, options }) => ({
      pattern,
      options: { ...defaults, ...shared, ...options },
    })),
  };
}

function checkTags({ preTags, postTags }: Written, content: ContentParser): void {
  if (preTags && !postTags) throw content.error("pre_tags are set but post_tags are not set");
}

/** Ignores an option that changes how the vendor finds matches, but not which. */
const ignoreOption = () => undefined;

/** @param options where the values read go */
function optionFields<Target>(options: (target: Target) => Written): Record<string, Field<Target>> {
  const put =
    <Value>(into: (value: Value, written: Written) => void) =>
    (value: Value, target: Target) =>
      into(value, options(target));
  return {
    pre_tags: textsField(
      put((tags, written) => {
        written.preTags = tags;
      }),
    ),
    post_tags: textsField(
      put((tags, written) => {
        written.postTags = tags;
      }),
    ),
    order: textField(
      put((order, written) => {
        written.order = order.toLowerCase() === "score" ? "score" : "none";
      }),
    ),
    highlight_filter: flagField(ignoreOption),
    fragment_size: integerField(
      put((size, written) => {
        written.fragmentSize = size;
      }),
    ),
    number_of_fragments: integerField(
      put((count, written) => {
        written.numberOfFragments = count;
      }),
    ),
    require_field_match: flagField(
      put((isRequired, written) => {
        written.requireFieldMatch = isRequired;
      }),
    ),
    boundary_scanner: textField((name) => {
      if (/^(chars|word|sentence)$/i.test(name)) return;
      throw illegalArgument(
        `No enum constant org.elasticsearch.search.fetch.subphase.highlight.HighlightBuilder.BoundaryScannerType.${name.toUpperCase()}`,
      );
    }),
    boundary_max_scan: integerField(ignoreOption),
    boundary_chars: textField(ignoreOption),
    boundary_scanner_locale: textField(ignoreOption),
    type: textField(
      put((type, written) => {
        written.type = type;
      }),
    ),
    fragmenter: textField(ignoreOption),
    no_match_size: integerField(
      put((size, written) => {
        written.noMatchSize = size;
      }),
    ),
    force_source: flagField(ignoreOption),
    phrase_limit: integerField(ignoreOption),
    max_analyzed_offset: integerField((offset) => {
      if (offset <= 0) throw illegalArgument("[max_analyzed_offset] must be a positive integer");
    }),
    options: objectField((content) => content.skipChildren()),
    highlight_query: objectField(() => {
      throw illegalArgument(
        "This twin highlights the words of the query: [highlight_query] is not supported",
      );
    }),
  };
}

const fieldParser = new ObjectParser<Written>("highlight_field", {
  fragment_offset: integerField(ignoreOption),
  matched_fields: textsField(ignoreOption),
  ...optionFields((written: Written) => written),
});

const highlightParser = new ObjectParser<WrittenHighlight>("highlight", {
  ...optionFields(({ shared }: WrittenHighlight) => shared),
  tags_schema: textField((schema, { shared }) => {
    if (schema !== "default" && schema !== "styled") throw illegalArgument(`Unknown tag schema [${schema}]`);
    const styled = Array.from({ length: 10 }, (_, index) => `<em class="hlt${index + 1}">`);
    shared.preTags = schema === "styled" ? styled : defaults.preTags;
    shared.postTags = defaults.postTags;
  }),
  encoder: textField((encoder, { shared }) => {
    shared.encoder = encoder === "html" ? "html" : "default";
  }),
  fields: { tokens: ["START_OBJECT", "START_ARRAY"], read: readFields },
});

/** Reads one object of fields, or a list of objects with one field each. */
function readFields(content: ContentParser, highlight: WrittenHighlight): void {
  if (content.token === "START_OBJECT") {
    while (content.next() !== "END_OBJECT") readField(content, highlight);
    return;
  }
  for (let token = content.next(); token !== "END_ARRAY"; token = content.next()) {
    if (token !== "START_OBJECT" || content.next() !== "FIELD_NAME") throw misplacedField(content);
    readField(content, highlight);
    if (content.next() !== "END_OBJECT") throw misplacedField(content);
  }
}

function misplacedField(content: ContentParser): VendorError {
  return contentError(
    "[fields] can be a single object with any number of fields or an array where each entry is an object with a single field",
    content.location,
  );
}

function readField(content: ContentParser, { fields }: WrittenHighlight): void {
  const { name: pattern } = content;
  try {
    const options = fieldParser.parse(content, {});
    checkTags(options, content);
    fields.push({ pattern, options });
  } catch (error) {
    if (!(error instanceof VendorError)) throw error;
    throw contentError(`[fields] failed to parse field [${pattern}]`, content.location, error);
  }
}

const TYPES: ReadonlySet<string> = new Set(["unified", "plain", "fvh"]);

/** An unknown highlighter type fails when a shard highlights, not when the body is read. @throws VendorError */
export function checkHighlight({ fields }: Highlight, index: string): void {
  const unknown = fields.find(({ options }) => !TYPES.has(options.type));
  if (!unknown) return;
  const { pattern, options } = unknown;
  throw illegalOnShard(`unknown highlighter type [${options.type}] for the field [${pattern}]`, index);
}
