/** Keeps answers small: a model pays for every character that it reads. */

/** Characters of an answer's list; entries beyond it are left for the next page. */
const MAX_PAGE_CHARACTERS = 40_000;

/** The beginning of a value that is too long to be answered whole. */
interface Excerpt {
  excerpt: string;
  /** Length of the whole, as text or JSON. */
  characters: number;
}

/** A value, or the beginning of its text when that is longer than `maxCharacters`. */
export function excerptOf(value: unknown, maxCharacters: number): unknown {
  const text = textOf(value);
  if (text.length <= maxCharacters) return value;
  return { excerpt: text.slice(0, maxCharacters), characters: text.length } satisfies Excerpt;
}

/** Text as it is, anything else as JSON. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
}

/** As many of the first items as fit into an answer, and at least one. */
export function takeFitting<Item>(items: readonly Item[]): Item[] {
  let characters = 0;
  const firstBeyond = items.findIndex((item, index) => {
    characters += textOf(item).length;
    return index > 0 && characters > MAX_PAGE_CHARACTERS;
  });
  return firstBeyond === -1 ? [...items] : items.slice(0, firstBeyond);
}

/** Where the next page begins; `null` when there is none. */
export function nextOffset(offset: number, shown: number, total: number): number | null {
  return offset + shown < total ? offset + shown : null;
}

/** A part of a long text. */
interface TextPart {
  text: string;
  characters: number;
  next_offset: number | null;
}

/** Reads a long value piece by piece. */
export function partOf(value: unknown, offset: number, maxCharacters: number): TextPart {
  const whole = textOf(value);
  const text = whole.slice(offset, offset + maxCharacters);
  return { text, characters: whole.length, next_offset: nextOffset(offset, text.length, whole.length) };
}
