/** Query parameters: `?` by order, `?1` by number, `?name` by name. */
import { editDistance } from "../vendor/edit-distance.ts";
import { parsingError, type Span } from "./errors.ts";
import type { Literal } from "./syntax.ts";

export interface Param {
  /** Absent for a positional parameter. */
  name: string | undefined;
  literal: Literal;
}

export class Params {
  readonly #params: readonly Param[];
  #next = 0;
  #kind: "?" | "?1" | "?name" | undefined;

  constructor(params: readonly Param[]) {
    this.#params = params;
  }

  /** @param text the text after the `?` @throws VendorError */
  resolve(text: string, at: Span): Literal {
    const kind = text === "" ? "?" : /^\d/.test(text) ? "?1" : "?name";
    this.#kind ??= kind;
    if (this.#kind !== kind) {
      const used = this.#kind === "?" ? "positional" : this.#kind === "?1" ? "numbered" : "named";
      throw parsingError(
        at,
        `Inconsistent parameter declaration, use one of positional, named or anonymous params but not a combination of ${used} and ${kind === "?" ? "anonymous" : kind === "?1" ? "positional" : "named"}`,
      );
    }
    const param = this.#find(kind, text);
    if (param) return param.literal;
    if (kind === "?") throw parsingError(at, `Not enough actual parameters ${this.#params.length}`);
    if (kind === "?1") {
      const hint =
        this.#params.length === 0
          ? ""
          : this.#params.length === 1
            ? ", did you mean position 1?"
            : `, did you mean any position between 1 and ${this.#params.length}?`;
      throw parsingError(at, `No parameter is defined for position ${text}${hint}`);
    }
    throw parsingError(at, `Unknown query parameter [${text}]${this.#similar(text)}`);
  }

  #find(kind: "?" | "?1" | "?name", text: string): Param | undefined {
    if (kind === "?") return this.#params[this.#next++];
    if (kind === "?1") return this.#params[Number(text) - 1];
    return this.#params.find(({ name }) => name === text);
  }

  #similar(text: string): string {
    const names = this.#params.flatMap(({ name }) => (name === undefined ? [] : [name]));
    return didYouMean(text, names);
  }
}

/** `, did you mean [x]?`, or nothing when no name is close. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = similarNames(name, known).slice(0, 5);
  if (near.length === 0) return "";
  return near.length === 1 ? `, did you mean [${near[0]}]?` : `, did you mean any of [${near.join(", ")}]?`;
}

/** Close names, closest first. */
export function similarNames(name: string, known: readonly string[]): string[] {
  return known
    .map((candidate) => ({ candidate, distance: distanceOf(name, candidate) }))
    .filter(({ candidate, distance }) => 1 - distance / Math.max(name.length, candidate.length, 1) >= 0.5)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .map(({ candidate }) => candidate);
}

/** Names beyond 200 characters are close to none. */
function distanceOf(a: string, b: string): number {
  return a.length > 200 || b.length > 200 ? Math.max(a.length, b.length) : editDistance(a, b);
}
