/** Compares what was heard with what was said, word by word. */

/** A run of words; `heard`: only heard; `said`: only said; `both`: the same in both, as it was heard. */
export interface WordRun {
  kind: "both" | "heard" | "said";
  text: string;
}

/** Longer texts are compared as a whole: the table of the comparison grows with their product. */
const MAX_WORDS = 400;

/** The differences between two texts, ignoring case and punctuation. */
export function compareWords(heard: string, said: string): WordRun[] {
  const [left, right] = [heard, said].map((text) => text.split(/\s+/).filter((word) => word !== ""));
  if (left === undefined || right === undefined) return [];
  if (Math.max(left.length, right.length) > MAX_WORDS) {
    return comparable(heard) === comparable(said)
      ? [{ kind: "both", text: heard }]
      : [
          { kind: "heard", text: heard },
          { kind: "said", text: said },
        ];
  }
  return mergeRuns(alignWords(left, right));
}

/** Whether two texts have the same words. */
export function hasSameWords(heard: string, said: string): boolean {
  return comparable(heard) === comparable(said);
}

/** A text without case and punctuation. */
export function comparable(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

function alignWords(heard: readonly string[], said: readonly string[]): WordRun[] {
  const [left, right] = [heard.map(comparable), said.map(comparable)];
  // lengths[i][j]: words in common from heard[i] and said[j] on.
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const row = lengths[i];
      if (row) row[j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const runs: WordRun[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      runs.push({ kind: "both", text: heard[i] ?? "" });
      i++;
      j++;
    } else if (j >= right.length || (i < left.length && at(i + 1, j) >= at(i, j + 1))) {
      runs.push({ kind: "heard", text: heard[i] ?? "" });
      i++;
    } else {
      runs.push({ kind: "said", text: said[j] ?? "" });
      j++;
    }
  }
  return runs;
}

function mergeRuns(runs: readonly WordRun[]): WordRun[] {
  const merged: WordRun[] = [];
  for (const run of runs) {
    const last = merged.at(-1);
    if (last?.kind === run.kind) last.text = `${last.text} ${run.text}`;
    else merged.push({ ...run });
  }
  return merged;
}
