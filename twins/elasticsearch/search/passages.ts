/**
 * Finds matches in a text, and the passages around them to show.
 * Source: Lucene's unified highlighter, with the vendor's bounds of sentences.
 */
import type { Token } from "@offhook/log-store/text/analysis";
import type { Mark, PhraseMark } from "../query/mark.ts";

/** A stretch of text to mark. */
export interface Match {
  start: number;
  end: number;
  /** Equal for matches of the same term. */
  key: string;
}

export interface MatchedText {
  text: string;
  matches: readonly Match[];
}

export interface Passage extends MatchedText {
  start: number;
  end: number;
}

/** Matches in text order. */
export function matchesIn(
  tokens: readonly Token[],
  marks: readonly Mark[],
  phrasesAre: "whole" | "words",
): Match[] {
  const words = new Set(marks.flatMap((mark) => (mark.kind === "term" ? [mark.key] : [])));
  const others = new Map(marks.flatMap((mark) => (mark.kind === "term" ? [] : [[mark.key, mark] as const])));
  const at = ({ start, end }: Token, key: string): Match => ({ start, end, key });
  const found = tokens.flatMap((token) => (words.has(token.term) ? [at(token, token.term)] : []));
  for (const mark of others.values()) {
    if (mark.kind === "phrase") found.push(...phrasesIn(tokens, mark, phrasesAre));
    else for (const token of tokens) if (mark.fits(token.term)) found.push(at(token, mark.key));
  }
  const places = new Map(found.map((match) => [`${match.start} ${match.end} ${match.key}`, match]));
  return [...places.values()].sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Limits how far a phrase's word is searched from its expected position. */
const MAX_MOVED = 100;

/** A phrase is one match from its first word to its last, or one match for each of its words. */
function phrasesIn(
  tokens: readonly Token[],
  { slots, slop, key }: PhraseMark,
  phrasesAre: "whole" | "words",
): Match[] {
  const [first, ...others] = slots;
  if (!first) return [];
  const found: Match[] = [];
  for (const token of tokens) {
    if (!first.fits(token.term)) continue;
    const origin = token.position - first.place;
    const words = [token];
    for (const { place, fits } of others) {
      const expected = origin + place;
      const moved = (other: Token) => Math.abs(other.position - expected);
      const reach = Math.min(slop, MAX_MOVED);
      // Positions start at 1 and have no gaps, so they index `tokens`.
      const around = tokens.slice(Math.max(0, expected - 1 - reach), Math.max(0, expected + reach));
      const near = around.filter((other) => fits(other.term) && !words.includes(other));
      const [nearest] = near.sort((a, b) => moved(a) - moved(b));
      if (nearest) words.push(nearest);
    }
    if (words.length < slots.length) continue;
    if (phrasesAre === "words")
      found.push(...words.map(({ term, start, end }) => ({ start, end, key: term })));
    else
      found.push({
        start: Math.min(...words.map(({ start }) => start)),
        end: Math.max(...words.map(({ end }) => end)),
        key,
      });
  }
  return found;
}

export interface PassageOptions {
  fragmentSize: number;
  /** 0: whole texts. */
  numberOfFragments: number;
  order: "none" | "score";
}

/** The best passages that contain matches, as many as requested. */
export function passagesOf(texts: readonly MatchedText[], options: PassageOptions): Passage[] {
  const { numberOfFragments, fragmentSize, order } = options;
  const length = texts.reduce((sum, { text }) => sum + text.length + 1, -1);
  let base = 0;
  const scored = texts.flatMap((one) => {
    const passages =
      numberOfFragments === 0
        ? wholeText(one)
        : passagesIn(one, new BoundedSentences(one.text, fragmentSize));
    const here = base;
    base += one.text.length + 1;
    return passages.map((passage) => ({ passage, score: scoreOf(passage, here, length) }));
  });
  const maxPassages = numberOfFragments === 0 ? scored.length : numberOfFragments;
  // Ties go to the later passage.
  const best = scored
    .map((one, number) => ({ ...one, number }))
    .sort((a, b) => b.score - a.score || b.number - a.number)
    .slice(0, maxPassages)
    .sort((a, b) => (order === "score" ? b.score - a.score : 0) || a.number - b.number);
  return best.map(({ passage }) => passage);
}

function wholeText({ text, matches }: MatchedText): Passage[] {
  return matches.length === 0 ? [] : [{ text, start: 0, end: text.length, matches }];
}

function passagesIn({ text, matches }: MatchedText, sentences: BoundedSentences): Passage[] {
  const passages: (Passage & { matches: Match[] })[] = [];
  for (const match of matches) {
    const last = passages.at(-1);
    if (last && match.start < last.end) last.matches.push(match);
    else passages.push({ text, ...sentences.around(middleOf(match)), matches: [match] });
  }
  return passages;
}

/** A passage is built around the middle of its first match. */
function middleOf({ start, end }: Match): number {
  return Math.max(start + 1, start + Math.floor((end - start) / 2));
}

/** Typical length of a passage, in characters: the pivot of length normalisation. */
const PIVOT = 87;
const K1 = 1.2;
const B = 0.75;

/**
 * Favours passages with many different terms, near the start of the text. @param base offset of the text among the
 * values
 */
function scoreOf({ start, end, matches }: Passage, base: number, length: number): number {
  const counts = new Map<string, number>();
  for (const { key } of matches) counts.set(key, (counts.get(key) ?? 0) + 1);
  const documents = 1 + length / PIVOT;
  const weight = (K1 + 1) * Math.log(1 + (documents + 0.5) / 1.5);
  const norm = K1 * (1 - B + (B * (end - start)) / PIVOT);
  const sum = [...counts.values()].reduce((total, count) => total + (weight * count) / (count + norm), 0);
  return sum * (1 + 1 / Math.log(PIVOT + base + start));
}

const segmenters = {
  sentence: new Intl.Segmenter("en", { granularity: "sentence" }),
  word: new Intl.Segmenter("en", { granularity: "word" }),
};

/** Sentences as passages: short ones are joined, long ones cut at word boundaries around the match. */
class BoundedSentences {
  readonly #sentences: Boundaries;
  readonly #words: Boundaries;
  readonly #fragmentSize: number;
  /** The sentences of the last lookup. */
  #window = { start: -1, end: -1 };
  #end = -1;

  constructor(text: string, fragmentSize: number) {
    this.#sentences = new Boundaries(text, segmenters.sentence);
    this.#words = new Boundaries(text, segmenters.word);
    this.#fragmentSize = fragmentSize;
  }

  around(offset: number): { start: number; end: number } {
    let start: number;
    if (offset > this.#window.start && offset < this.#window.end) {
      start = this.#end;
      this.#end = this.#window.end;
    } else {
      start = this.#sentences.before(offset);
      this.#end = this.#sentences.behind(offset - 1);
      while (this.#fragmentSize > 0 && this.#end - start < this.#fragmentSize) {
        const next = this.#sentences.behind(this.#end);
        if (next === this.#end || next - start > this.#fragmentSize) break;
        this.#end = next;
      }
      this.#window = { start, end: this.#end };
    }
    if (this.#fragmentSize > 0 && this.#end - start > this.#fragmentSize) {
      if (offset - this.#fragmentSize > start)
        start = Math.max(start, this.#words.before(offset - this.#fragmentSize));
      const remaining = Math.max(0, this.#fragmentSize - (offset - start));
      if (offset + remaining < this.#window.end) {
        this.#end = Math.min(this.#window.end, this.#words.behind(offset + remaining));
      }
    }
    return { start, end: Math.max(offset - 1, this.#end) };
  }
}

/** Boundary offsets of a text's parts. */
class Boundaries {
  readonly #places: readonly number[];

  constructor(text: string, segmenter: Intl.Segmenter) {
    this.#places = [...[...segmenter.segment(text)].map(({ index }) => index), text.length];
  }

  /** The last boundary before a place, else the first. */
  before(place: number): number {
    return this.#places[this.#countUpTo(place - 1) - 1] ?? 0;
  }

  /** The first boundary after a place, else the last. */
  behind(place: number): number {
    return this.#places[this.#countUpTo(place)] ?? this.#places.at(-1) ?? 0;
  }

  #countUpTo(place: number): number {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#places[middle] ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
