/**
 * The words that were looked for, marked in the text.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/highlighting.html
 */

import { analyze, type Token } from "../../datasets/analysis.ts";
import { matchesPattern } from "../../sandbox/star-pattern.ts";
import type { Highlight, HighlightOptions } from "./highlight-options.ts";

/** Longest text that is searched for words, in characters: the vendor's `index.highlight.max_analyzed_offset`. */
const MAX_CHARACTERS = 1_000_000;

/** Fields, of those that a document has, that a pattern of the request means. */
export function highlightedFields(
  highlight: Highlight,
  names: readonly string[],
): Map<string, HighlightOptions> {
  const found = new Map<string, HighlightOptions>();
  for (const { pattern, options } of highlight.fields) {
    for (const name of names) if (matchesPattern(name, pattern)) found.set(name, options);
  }
  return found;
}

/** The words to mark in a field. */
export function wordsFor(
  field: string,
  terms: ReadonlyMap<string, readonly string[]>,
  { requireFieldMatch }: HighlightOptions,
): ReadonlySet<string> {
  if (!requireFieldMatch) return new Set([...terms.values()].flat());
  return new Set(terms.get(field) ?? terms.get(field.replace(/\.keyword$/, "")) ?? []);
}

/**
 * The parts of a field's values in which words are marked, best first when asked for.
 * @param whole the values are marked as a whole (a keyword), not word by word
 */
export function highlightValues(
  values: readonly string[],
  words: ReadonlySet<string>,
  options: HighlightOptions,
  whole: boolean,
): string[] {
  const fragments: Fragment[] = values.flatMap((value) => {
    const text = value.slice(0, MAX_CHARACTERS);
    const marked = whole
      ? words.has(value)
        ? [{ term: value, position: 1, start: 0, end: value.length }]
        : []
      : analyze(text).filter(({ term }) => words.has(term));
    return marked.length === 0 ? [] : fragmentsOf(text, marked, options);
  });
  if (fragments.length === 0) {
    const [first] = values;
    if (options.noMatchSize <= 0 || first === undefined) return [];
    return [encode(first.slice(0, wordEnd(first, options.noMatchSize)), options)];
  }
  if (options.numberOfFragments === 0) return fragments.map(({ text }) => text);
  const ordered =
    options.order === "score" ? [...fragments].sort((a, b) => b.matches - a.matches) : fragments;
  return ordered.slice(0, options.numberOfFragments).map(({ text }) => text);
}

interface Fragment {
  text: string;
  /** How many different words are marked. */
  matches: number;
}

function fragmentsOf(text: string, marked: readonly Token[], options: HighlightOptions): Fragment[] {
  if (options.numberOfFragments === 0 || options.fragmentSize <= 0) {
    return [{ text: mark(text, 0, text.length, marked, options), matches: marked.length }];
  }
  return passages(text, options.fragmentSize).flatMap(({ start, end }) => {
    const inside = marked.filter((token) => token.start >= start && token.end <= end);
    if (inside.length === 0) return [];
    const matches = new Set(inside.map(({ term }) => term)).size;
    return [{ text: mark(text, start, end, inside, options), matches }];
  });
}

interface Passage {
  start: number;
  end: number;
}

/** The text in sentences, each cut between words when it is longer than a fragment, short ones joined. */
function passages(text: string, size: number): Passage[] {
  const sentences = [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(text)];
  const found: Passage[] = [];
  for (const { index, segment } of sentences) {
    const end = index + segment.trimEnd().length;
    const last = found.at(-1);
    if (last && end - last.start <= size) last.end = end;
    else {
      for (let start = index; start < end; ) {
        const stop = end - start <= size ? end : start + wordEnd(text.slice(start, end), size);
        found.push({ start, end: stop });
        start = stop;
        while (start < end && text.charAt(start) === " ") start++;
      }
    }
  }
  return found;
}

/** Where the word ends that stands at `size`. */
function wordEnd(text: string, size: number): number {
  if (text.length <= size) return text.length;
  const space = text.indexOf(" ", size);
  return space < 0 ? text.length : space;
}

function mark(
  text: string,
  start: number,
  end: number,
  tokens: readonly Token[],
  options: HighlightOptions,
): string {
  const { preTags, postTags } = options;
  const order = [...new Set(tokens.map(({ term }) => term))];
  let marked = "";
  let at = start;
  for (const token of tokens) {
    const number = order.indexOf(token.term);
    const pre = preTags[number % preTags.length] ?? "";
    const post = postTags[number % postTags.length] ?? "";
    marked += encode(text.slice(at, token.start), options) + pre;
    marked += encode(text.slice(token.start, token.end), options) + post;
    at = token.end;
  }
  return marked + encode(text.slice(at, end), options);
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
