/**
 * An automaton that matches dotted names against patterns piece by piece, as a walk down a document yields them. A star
 * matches any text, dots included, and a pattern that matches a name matches all names below it.
 */

/**
 * The states of each pattern: the index of the next character to match, its length at the end of a match, one more
 * below a match.
 */
type Places = ReadonlyMap<string, ReadonlySet<number>>;

/** The set of states after some prefix of a name. */
export class NameState {
  readonly #places: Places;

  private constructor(places: Places) {
    this.#places = places;
  }

  static of(patterns: readonly string[]): NameState {
    const plain = patterns.map((pattern) => pattern.replaceAll(/\*+/g, "*"));
    return new NameState(new Map(plain.map((pattern) => [pattern, new Set(closureAt(pattern, 0))])));
  }

  /** Whether a pattern matches the name, or a name above it. */
  get accepts(): boolean {
    return [...this.#places].some(([pattern, places]) => [...places].some((at) => at >= pattern.length));
  }

  /** Whether no pattern can match, whatever follows. */
  get isDead(): boolean {
    return this.#places.size === 0;
  }

  /** The state after more text. */
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
  if (pattern[at] === "*") return closureAt(pattern, at);
  return pattern[at] === character ? closureAt(pattern, at + 1) : [];
}

/** A state and its epsilon closure: a star may match nothing. */
function closureAt(pattern: string, at: number): number[] {
  return pattern[at] === "*" ? [at, ...closureAt(pattern, at + 1)] : [at];
}
