/** Pairs of keys and values in a text: `user=ann id="1 2"`, or with other delimiters. */
import { splitList } from "@offhook/platform/base/split-list";
import { afterQuotes } from "../syntax/text.ts";

export interface KeyValueOptions {
  /** Each character of it ends a key. */
  kvdelim: string | undefined;
  /** Each character of it ends a pair. */
  pairdelim: string | undefined;
  /** Pairs that are looked for. */
  limit: number;
  /** Characters that are looked at. */
  maxchars: number;
  /** Whether a key's characters other than letters, digits and `_` become `_`. */
  cleanKeys: boolean;
}

/** Looked for where a word begins alone: from within it the same end would be looked for once a character. */
const plainPair =
  /(?<![\p{L}\p{N}_.:{}-])[\p{N}.:{}-]*([\p{L}_][\p{L}\p{N}_.:{}-]*)=("(?:[^"\\]|\\.)*"|[^\s,;&|"]+)/gsu;

/** The values by their keys, in the order of the text. */
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
    const name = options.cleanKeys ? cleaned(key.trim()) : key.trim();
    if (name === "" || value.trim() === "") continue;
    const list = values.get(name) ?? [];
    list.push(unquoted(value.trim()));
    values.set(name, list);
  }
  return values;
}

/** Between pair delimiters, those in quotes left alone. */
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

function cleaned(key: string): string {
  return key.replace(/[^\p{L}\p{N}_]+/gu, "_").replace(/^[_\d]+/, "");
}

function unquoted(value: string): string {
  return /^".*"$/s.test(value) ? value.slice(1, -1).replace(/\\(["\\])/g, "$1") : value;
}
