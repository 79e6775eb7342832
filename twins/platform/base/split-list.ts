/**
 * The parts of a list in one text, without empty ones.
 * @param separators each character of it ends a part
 * @param afterEnclosed the offset behind what is enclosed from `at` on, in which no separator counts; -1 when it is never closed, and
 *   then stands for itself; `undefined` when nothing is enclosed there
 */
export function* splitList(
  text: string,
  separators: string,
  afterEnclosed: (text: string, at: number) => number | undefined,
): Generator<string> {
  // What is not closed once is not closed further behind: without this, a text of openings would be gone through once for each.
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
