/** Long texts are made in pieces, so that none of them takes much time or memory. */

import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";

/** Values that are written at once: some milliseconds' work. */
const CELLS_AT_ONCE = 4096;

/** Where the pieces of so many rows begin and end. */
export function* rowRanges(rows: number, columns: number): Generator<[from: number, to: number]> {
  const size = Math.max(1, Math.floor(CELLS_AT_ONCE / Math.max(1, columns)));
  for (let from = 0; from < rows; from += size) yield [from, Math.min(rows, from + size)];
}

/** A body that is longer is sent while it is made. */
const LONGEST_WHOLE = 512 * 1024;

/**
 * A body of pieces: a text when it is short, else a stream, which makes each piece when it is asked for it.
 * @param longest characters of a text
 */
export function bodyOf(pieces: Iterable<string>, longest = LONGEST_WHOLE): string | Readable {
  const iterator = pieces[Symbol.iterator]();
  let text = "";
  while (text.length < longest) {
    const { done, value } = iterator.next();
    if (done) return text;
    text += value;
  }
  return streamOf(text, iterator);
}

/** Sends pieces one after the other, each when there is room for it. */
function streamOf(begun: string, rest: Iterator<string>): Readable {
  return Readable.from(inTurns(rest, begun), { objectMode: false });
}

/** One piece after the other, with time for everything else between them. @param begun comes first */
export async function* inTurns(rest: Iterator<string>, begun = ""): AsyncGenerator<string> {
  if (begun !== "") yield begun;
  for (let next = rest.next(); !next.done; next = rest.next()) {
    yield next.value;
    await setImmediate();
  }
}
