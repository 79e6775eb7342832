/**
 * The stem of an English word, as Lucene's `PorterStemFilter` cuts it.
 * Source: https://tartarus.org/martin/PorterStemmer/, with its two departures from the published algorithm.
 */

type Rule = readonly [suffix: string, replacement: string];

const STEP_2: readonly Rule[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
  ["logi", "log"],
];
const STEP_3: readonly Rule[] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
];
const STEP_4 = "al ance ence er ic able ible ant ement ment ent sion tion ou ism ate iti ous ive ize".split(
  " ",
);

export function porterStem(word: string): string {
  if (word.length < 3) return word;
  let stem = stripPlural(word);
  if (stem.endsWith("y") && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  stem = replaceSuffix(stem, STEP_2);
  stem = replaceSuffix(stem, STEP_3);
  stem = removeSuffix(stem);
  if (stem.endsWith("e")) {
    const before = stem.slice(0, -1);
    const measured = measure(before);
    if (measured > 1 || (measured === 1 && !endsShort(before))) stem = before;
  }
  return /ll$/.test(stem) && measure(stem.slice(0, -1)) > 1 ? stem.slice(0, -1) : stem;
}

/** Strips plurals, `-ed` and `-ing`. */
function stripPlural(word: string): string {
  let stem = word;
  if (/(?:ss|i)es$/.test(stem)) stem = stem.slice(0, -2);
  else if (/[^s]s$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.endsWith("eed")) return measure(stem.slice(0, -3)) > 0 ? stem.slice(0, -1) : stem;
  const [suffix] = /(?:ed|ing)$/.exec(stem) ?? [];
  if (suffix === undefined || !hasVowel(stem.slice(0, -suffix.length))) return stem;
  stem = stem.slice(0, -suffix.length);
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (isDoubled(stem)) return /[lsz]$/.test(stem) ? stem : stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

function replaceSuffix(word: string, rules: readonly Rule[]): string {
  const rule = rules.find(([suffix]) => word.endsWith(suffix));
  if (!rule) return word;
  const stem = word.slice(0, -rule[0].length);
  return measure(stem) > 0 ? stem + rule[1] : word;
}

function removeSuffix(word: string): string {
  const found = STEP_4.filter((suffix) => word.endsWith(suffix)).sort((a, b) => b.length - a.length)[0];
  if (found === undefined) return word;
  // `-ion` is stripped only behind `s` or `t`, which stays.
  const cut = found === "sion" || found === "tion" ? 3 : found.length;
  const stem = word.slice(0, -cut);
  return measure(stem) > 1 ? stem : word;
}

function isConsonant(word: string, at: number): boolean {
  const letter = word[at] ?? "";
  if (letter === "y") return at === 0 || !isConsonant(word, at - 1);
  return !"aeiou".includes(letter);
}

function hasVowel(word: string): boolean {
  return [...word.split("").keys()].some((at) => !isConsonant(word, at));
}

/** How often a vowel is followed by a consonant. */
function measure(word: string): number {
  let count = 0;
  for (let at = 1; at < word.length; at++) {
    if (isConsonant(word, at) && !isConsonant(word, at - 1)) count++;
  }
  return count;
}

function isDoubled(word: string): boolean {
  const at = word.length - 1;
  return at > 0 && word[at] === word[at - 1] && isConsonant(word, at);
}

/** Consonant, vowel, consonant, and the last none of w, x, y. */
function endsShort(word: string): boolean {
  const at = word.length - 1;
  return (
    at > 1 &&
    isConsonant(word, at) &&
    !isConsonant(word, at - 1) &&
    isConsonant(word, at - 2) &&
    !"wxy".includes(word[at] ?? "")
  );
}
