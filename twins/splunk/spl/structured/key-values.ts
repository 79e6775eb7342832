/** Extracts pairs of keys and values: `user=ann id="1 2"`, or with other delimiters. */
import { splitList } from "@offhook/platform/base/split-list";
import { afterQuotes } from "../syntax/text.ts";

export interface KeyValueOptions {
  /** Characters that end a key. */
  kvdelim: string | undefined;
  /** Characters that end a pair. */
  pairdelim: string | undefined;
  /** Most pairs to read. */
  limit: number;
  /** Characters to read. */
  maxchars: number;
  /** Replaces other characters of keys than letters, digits and `_` by `_`. */
  cleanKeys: boolean;
}

/** Matches at the start of a word only: retries from each character of a long word would take quadratic time. */
const plainPair =
  /(?<![\p{L}\p{N}_.:{}-])[\p{N}.:{}-]*([\p{L}_][\p{L}\p{N}_.:{}-]*)=("(?:[^"\\]|\\.)*"|[^\s,;&|"]+)/gsu;

/** Values by key, in the order of the text. */
export function keyValues(text: string, options: KeyValueOptions): Map<string, string[]> {
  const head = text.slice(0, options.maxchars);
  const { kvdelim, pairdelim } = options;
  const pairs =
    kvdelim === undefined && pairdelim === undefined
      ? head.matchAll(plainPair)
      : delimitedPairs(head, kvdelim ?? "=", pairdelim ?? " ,;\n");
  const values = new Map<string, string[]>();
  let count = 0;
  for (const [, key = "", value = ""] of pairs) {
    if (count++ >= options.limit) break;
    const name = options.cleanKeys ? cleanKey(key.trim()) : key.trim();
    if (name === "" || value.trim() === "") continue;
    const list = values.get(name) ?? [];
    list.push(unquote(value.trim()));
    values.set(name, list);
  }
  return values;
}

/** Splits at pair delimiters outside of quotes. */
function* delimitedPairs(text: string, kvdelim: string, pairdelim: string): Generator<string[]> {
  const pair = new RegExp(`^([^${classOf(kvdelim)}"]+)[${classOf(kvdelim)}](.*)$`, "s");
  for (const found of splitList(text, pairdelim, afterQuotes)) {
    const matched = pair.exec(found);
    if (matched !== null) yield matched;
  }
}

function classOf(characters: string): string {
  return characters.replace(/[\\\]^-]/g, "\\$&");
}

function cleanKey(key: string): string {
  return key.replace(/[^\p{L}\p{N}_]+/gu, "_").replace(/^[_\d]+/, "");
}

function unquote(value: string): string {
  return /^".*"$/s.test(value) ? value.slice(1, -1).replace(/\\(["\\])/g, "$1") : value;
}
