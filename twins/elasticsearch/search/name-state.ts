/**
 * Patterns of dotted names, held against a name piece by piece, as one comes to it going down a document. A star is any text,
 * dots included, and a pattern that means a name means all names below it.
 */

/** Where a name may stand in each pattern: before the character of that number, at its end, or below it. */
type Places = ReadonlyMap<string, ReadonlySet<number>>;

/** How far a name has come in its patterns. */
export class NameState {
  readonly #places: Places;

  private constructor(places: Places) {
    this.#places = places;
  }

  static of(patterns: readonly string[]): NameState {
    const plain = patterns.map((pattern) => pattern.replaceAll(/\*+/g, "*"));
    return new NameState(new Map(plain.map((pattern) => [pattern, new Set(openAt(pattern, 0))])));
  }

  /** Whether a pattern means the name, or one above it. */
  get accepts(): boolean {
    return [...this.#places].some(([pattern, places]) => [...places].some((at) => at >= pattern.length));
  }

  /** Whether no pattern means the name, whatever follows. */
  get isDead(): boolean {
    return this.#places.size === 0;
  }

  /** The state of the name with more text at its end. */
  after(text: string): NameState {
    let places = this.#places;
    for (const character of text.split("")) places = step(places, character);
    return new NameState(places);
  }
}

function step(places: Places, character: string): Places {
  const reached = new Map<string, ReadonlySet<number>>();
  for (const [pattern, from] of places) {
    const to = new Set([...from].flatMap((at) => stepFrom(pattern, at, character)));
    if (to.size > 0) reached.set(pattern, to);
  }
  return reached;
}

function stepFrom(pattern: string, at: number, character: string): number[] {
  if (at > pattern.length) return [at];
  if (at === pattern.length) return character === "." ? [at + 1] : [];
  if (pattern[at] === "*") return openAt(pattern, at);
  return pattern[at] === character ? openAt(pattern, at + 1) : [];
}

/** A place, and those behind the stars there, which may be no text. */
function openAt(pattern: string, at: number): number[] {
  return pattern[at] === "*" ? [at, ...openAt(pattern, at + 1)] : [at];
}
