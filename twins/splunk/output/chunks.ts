/** Writes long texts in chunks, so that none blocks the event loop or fills the memory. */

import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";

/** Values per chunk: some milliseconds of work. */
const CELLS_PER_CHUNK = 4096;

/** Divides rows into chunks: index of the first row of each, and of the first behind it. */
export function* rowRanges(rows: number, columns: number): Generator<[from: number, to: number]> {
  const size = Math.max(1, Math.floor(CELLS_PER_CHUNK / Math.max(1, columns)));
  for (let from = 0; from < rows; from += size) yield [from, Math.min(rows, from + size)];
}

/** A longer body is streamed. */
const MAX_BUFFERED_CHARACTERS = 512 * 1024;

/**
 * Joins chunks to a string when they are short, else streams them; a stream makes each chunk on demand.
 * @param maxCharacters of a string
 */
export function joinOrStream(
  chunks: Iterable<string>,
  maxCharacters = MAX_BUFFERED_CHARACTERS,
): string | Readable {
  const iterator = chunks[Symbol.iterator]();
  let text = "";
  while (text.length < maxCharacters) {
    const { done, value } = iterator.next();
    if (done) return text;
    text += value;
  }
  return streamOf(text, iterator);
}

/** Streams chunks with back-pressure. */
function streamOf(begun: string, rest: Iterator<string>): Readable {
  return Readable.from(yieldBetween(rest, begun), { objectMode: false });
}

/** Yields chunks, and lets the event loop turn between them. @param begun comes first */
export async function* yieldBetween(rest: Iterator<string>, begun = ""): AsyncGenerator<string> {
  if (begun !== "") yield begun;
  for (let next = rest.next(); !next.done; next = rest.next()) {
    yield next.value;
    await setImmediate();
  }
}
