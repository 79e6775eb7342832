/**
 * Marks matches in texts.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/highlighting.html
 */

import { analyze } from "@offhook/log-store/text/analysis";
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import type { Mark } from "../query/mark.ts";
import type { Highlight, HighlightOptions } from "./highlight-options.ts";
import { type Match, matchesIn, passagesOf } from "./passages.ts";

/** In characters: the vendor's `index.highlight.max_analyzed_offset`. */
const MAX_CHARACTERS = 1_000_000;

/** The fields to highlight, of those named, with their options. */
export function fieldsToHighlight(
  highlight: Highlight,
  names: readonly string[],
): Map<string, HighlightOptions> {
  const found = new Map<string, HighlightOptions>();
  for (const { pattern, options } of highlight.fields) {
    for (const name of names) if (matchesPattern(name, pattern)) found.set(name, options);
  }
  return found;
}

/** The marks that apply to a field. */
export function marksFor(
  field: string,
  marks: ReadonlyMap<string, readonly Mark[]>,
  { requireFieldMatch }: HighlightOptions,
): readonly Mark[] {
  return requireFieldMatch ? (marks.get(field) ?? []) : [...marks.values()].flat();
}

/**
 * Fragments of a field's values that contain matches.
 * @param unit `whole` matches the value as one token, as a keyword is indexed
 */
export function highlightValues(
  values: readonly string[],
  marks: readonly Mark[],
  options: HighlightOptions,
  unit: "words" | "whole",
): string[] {
  const found = values.map((value) => {
    const text = value.slice(0, MAX_CHARACTERS);
    const tokens =
      unit === "whole" ? [{ term: text, position: 1, start: 0, end: text.length }] : analyze(text);
    return { text, matches: matchesIn(tokens, marks, options.requireFieldMatch ? "whole" : "words") };
  });
  // Fragments lose the blanks around them, whole texts do not.
  const shown = (text: string) => (options.numberOfFragments === 0 ? text : text.trim());
  const fragments = passagesOf(found, options);
  if (fragments.length > 0) {
    return fragments.map(({ text, start, end, matches }) => shown(mark(text, start, end, matches, options)));
  }
  const [first = ""] = values;
  if (options.noMatchSize <= 0 || first === "") return [];
  return [shown(encode(first.slice(0, nextWordEnd(first, options.noMatchSize)), options))];
}

/** Index of the first word end after `size` characters. */
function nextWordEnd(text: string, size: number): number {
  if (text.length <= size) return text.length;
  for (const { index, segment } of wordSegmenter.segment(text)) {
    if (index + segment.length > size) return index + segment.length;
  }
  return text.length;
}

const wordSegmenter = new Intl.Segmenter("en", { granularity: "word" });

/** Of overlapping matches, the second is marked from the end of the first. */
function mark(
  text: string,
  start: number,
  end: number,
  matches: readonly Match[],
  options: HighlightOptions,
): string {
  const { preTags, postTags, type } = options;
  const order = [...new Set(matches.map(({ key }) => key))];
  let marked = "";
  let at = start;
  for (const match of matches) {
    if (match.start > at) marked += encode(text.slice(at, match.start), options);
    if (match.end <= at) continue;
    // Only the fvh highlighter rotates tags by term.
    const number = type === "fvh" ? order.indexOf(match.key) : 0;
    const pre = preTags[number % preTags.length] ?? "";
    const post = postTags[number % postTags.length] ?? "";
    marked += pre + encode(text.slice(Math.max(at, match.start), match.end), options) + post;
    at = match.end;
  }
  return marked + encode(text.slice(at, Math.max(at, end)), options);
}

function encode(text: string, { encoder }: HighlightOptions): string {
  if (encoder === "default") return text;
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#x27;")
    .replaceAll("/", "&#x2F;");
}
