/**
 * Splits a list into its non-empty parts.
 * @param separators characters, each of which ends a part
 * @param afterEnclosed if a quoted or bracketed section, in which separators do not count, opens at `at`: the offset after
 *   its end, or -1 if it is never closed, which makes its opening an ordinary character; else `undefined`
 */
export function* splitList(
  text: string,
  separators: string,
  afterEnclosed: (text: string, at: number) => number | undefined,
): Generator<string> {
  // An unclosed section means that no later one is closed either; without this check, a text of openings takes quadratic time.
  let mayClose = true;
  let from = 0;
  let at = 0;
  while (at < text.length) {
    if (separators.includes(text.charAt(at))) {
      if (at > from) yield text.slice(from, at);
      from = ++at;
      continue;
    }
    const after = mayClose ? afterEnclosed(text, at) : undefined;
    if (after === -1) mayClose = false;
    at = after === undefined || after === -1 ? at + 1 : after;
  }
  if (at > from) yield text.slice(from, at);
}
