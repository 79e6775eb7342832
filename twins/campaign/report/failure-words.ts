/** The words of failures, counted: those that differ in their figures alone are one. */

/** Figures and identifiers: what differs between calls that fail for the same reason. */
const FIGURE =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|(?<![0-9a-z])(?=[a-f]{0,63}\d)[0-9a-f]{8,64}(?![0-9a-z])|\d+(?:\.\d+)?/gi;
/** Longer failures are cut, before they are compared. */
const MAX_LENGTH = 500;
/** Reasons told apart; later ones are counted together. */
const MAX_REASONS = 2_000;
const OTHERS = "other failures";

/** Why a call did not pass: it failed, or it could not be judged. */
export type FailureVerdict = "failed" | "error";

/** A reason why calls did not pass, in words. */
export interface FailureCount {
  verdict: FailureVerdict;
  /** With `#` where the calls' figures differ. */
  words: string;
  /** Calls that have it. */
  calls: number;
}

interface Reason {
  verdict: FailureVerdict;
  /** The text around the figures. */
  parts: readonly string[];
  /** `undefined`: they differ. */
  figures: (string | undefined)[];
}

/** The reasons of a campaign. Identifies each by a key, so that cells count keys alone. */
export class FailureWords {
  readonly #reasons = new Map<string, Reason>();

  /** @returns the key of the reason */
  add(failure: string, verdict: FailureVerdict): string {
    const text = failure.length > MAX_LENGTH ? `${failure.slice(0, MAX_LENGTH - 1)}…` : failure;
    const key = `${verdict} ${text.replace(FIGURE, "#")}`;
    const figures = text.match(FIGURE) ?? [];
    const reason = this.#reasons.get(key);
    if (reason) {
      figures.forEach((figure, index) => {
        if (reason.figures[index] !== figure) reason.figures[index] = undefined;
      });
      return key;
    }
    if (this.#reasons.size >= MAX_REASONS) return this.#others(verdict);
    this.#reasons.set(key, { verdict, parts: text.split(FIGURE), figures: [...figures] });
    return key;
  }

  #others(verdict: FailureVerdict): string {
    const key = `${verdict} (others)`;
    if (!this.#reasons.has(key)) this.#reasons.set(key, { verdict, parts: [OTHERS], figures: [] });
    return key;
  }

  /** The reasons with their counts, the most frequent first. */
  count(calls: ReadonlyMap<string, number>): FailureCount[] {
    return [...calls]
      .flatMap(([key, count]) => {
        const reason = this.#reasons.get(key);
        return reason ? [{ verdict: reason.verdict, words: wordsOf(reason), calls: count }] : [];
      })
      .sort(
        (a, b) => b.calls - a.calls || compareText(a.words, b.words) || compareText(b.verdict, a.verdict),
      );
  }
}

function wordsOf({ parts, figures }: Reason): string {
  return parts
    .map((part, index) => (index + 1 < parts.length ? `${part}${figures[index] ?? "#"}` : part))
    .join("");
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
