/**
 * The pattern of a word: Unicode text segmentation (UAX #29) with the differences of Lucene's StandardTokenizer. Han and Hiragana
 * characters are single words, full-width digits are digits, Southeast Asian letters stay together, emoji are words, and a word needs a
 * letter, digit or emoji. The alternatives are ordered so that the longest match comes first.
 * Source: https://unicode.org/reports/tr29/#Word_Boundaries
 */

/** ASCII words, in lower case, for JavaScript and RE2 alike. A colon joins letters, as it did until Unicode 15. */
export const ASCII_WORD = "_*(?:(?:[a-z](?:[:.']?[a-z])*|[0-9](?:[,;.']?[0-9])*)_*)+";

/** Extend, Format and ZWJ: they belong to the character before them. A zero-width space does not. */
const JOINING = "[[\\p{M}\\p{Cf}\\uFF9E\\uFF9F]--\\u200B]";
const KATAKANA = `[[\\p{Script=Katakana}\\u3031-\\u3035\\u309B\\u309C\\u30A0\\u30FC\\uFF70]--${JOINING}]`;
const HAN = `[\\p{Script=Han}--${JOINING}]`;
const HIRAGANA = `[\\p{Script=Hiragana}--${JOINING}--${KATAKANA}]`;
const SOUTHEAST_ASIAN = `[[\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=New_Tai_Lue}\\p{Script=Tai_Le}\\p{Script=Tai_Tham}\\p{Script=Tai_Viet}\\p{Script=Ahom}]&&[\\p{Alphabetic}--${JOINING}]]`;
const HEBREW = `[[\\p{Script=Hebrew}&&\\p{Alphabetic}]--${JOINING}]`;
const LETTER = `[[\\p{Alphabetic}\\u02C2-\\u02C5\\u02D2-\\u02DF\\u02ED\\u02EF-\\u02FF\\u055A-\\u055C\\u055E\\u05F3]--${JOINING}--${KATAKANA}--${HAN}--${HIRAGANA}--${SOUTHEAST_ASIAN}--${HEBREW}--\\p{Ideographic}]`;
const DIGIT = "[\\p{Nd}\\u066B]";
const CONNECTOR = "[\\p{Pc}\\u202F]";
const MID_BOTH = "'.\\u2018\\u2019\\u2024\\uFE52\\uFF07\\uFF0E";
const MID_LETTER = `[${MID_BOTH}:\\u00B7\\u0387\\u055F\\u05F4\\u2027\\uFE13\\uFE55\\uFF1A]`;
const MID_NUMBER = `[${MID_BOTH},;\\u037E\\u0589\\u060C\\u060D\\u066C\\u07F8\\u2044\\uFE10\\uFE14\\uFE50\\uFE54\\uFF0C\\uFF1B]`;
const EMOJI =
  "[\\p{Emoji}--[*#0-9\\u00A9\\u00AE\\u2122\\u3030\\u303D]--\\p{Regional_Indicator}--\\p{Emoji_Modifier}]";

const joining = `${JOINING}*`;
const connectors = `(?:${CONNECTOR}${joining})*`;
/** One Hebrew letter at a time: a quotation mark may follow any of them. */
const quoted = `${HEBREW}${joining}(?:"${joining}${HEBREW}|')${joining}`;
const letters = `[${LETTER}${HEBREW}]${joining}(?:${LETTER}${joining})*`;
const word = `${letters}(?:${MID_LETTER}${joining}${letters})*`;
const digits = `(?:${DIGIT}${joining})+`;
const number = `${digits}(?:${MID_NUMBER}${joining}${digits})*`;
const words = `(?:${quoted}|${word}|${number})+`;
const kana = `(?:${KATAKANA}${joining})+`;
const picture = `${EMOJI}[[${JOINING}\\p{Emoji_Modifier}]--\\u200D]*`;

const alternatives = [
  // Katakana next to another letter is a word of its own, unless a connector joins them. No word starts right after a connector, or at
  // a mark: so the pattern scans a long run of either once.
  `(?!${JOINING})(?<!${CONNECTOR}${joining})${connectors}(?:${words}|${kana})(?:(?:${CONNECTOR}${joining})+(?:${words}|${kana}))*${connectors}`,
  `${SOUTHEAST_ASIAN}(?:${SOUTHEAST_ASIAN}|${JOINING})*`,
  `[${HAN}${HIRAGANA}]${joining}`,
  `${picture}(?:\\u200D${picture})*`,
  `(?:\\p{Regional_Indicator}${joining}){2}`,
  "[#*]\\uFE0F?\\u20E3",
];

let compiled: RegExp | undefined;

/** Matches the words of any text. Compiled at the first use, for that takes long. */
export function unicodeWords(): RegExp {
  compiled ??= new RegExp(alternatives.join("|"), "gv");
  return compiled;
}
