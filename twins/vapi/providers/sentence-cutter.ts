/** Cuts streamed text into speakable pieces, so that the first sentence is spoken before the last is written. */

/** Longer sentences are cut at a space. */
const MAX_PIECE_LENGTH = 400;

/** A sentence that is complete although nothing follows it yet. */
const ENDED = /[.!?…]["')\]]*\s+$/u;

/** The vendor's token with which a model asks to be spoken at once. Source: https://docs.vapi.ai/assistants/flush-syntax */
const FLUSH = /<\s*flush\s*\/?>|<\s*\/\s*flush\s*>/i;

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

export interface SentenceCutter {
  /** Takes the next text. @returns the sentences it completes */
  push(text: string): string[];
  /** The rest, once the text has ended. */
  flush(): string[];
}

export function createSentenceCutter(): SentenceCutter {
  let rest = "";
  return {
    push(text) {
      const flushed = (rest + text).split(FLUSH);
      const sentences = sentencesOf(flushed.pop() ?? "");
      rest = sentences.pop() ?? "";
      const pieces = [...flushed.flatMap(sentencesOf), ...sentences];
      if (ENDED.test(rest)) {
        pieces.push(rest);
        rest = "";
      }
      for (let at = cutAt(rest); at > 0; at = cutAt(rest)) {
        pieces.push(rest.slice(0, at));
        rest = rest.slice(at);
      }
      return toSpeakable(pieces);
    },
    flush() {
      const last = rest;
      rest = "";
      return toSpeakable([last]);
    },
  };
}

function sentencesOf(text: string): string[] {
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

/** Where to cut a piece that is too long: at its last space within the limit, else at the limit. 0: no cut. */
function cutAt(text: string): number {
  if (text.length <= MAX_PIECE_LENGTH) return 0;
  const space = text.lastIndexOf(" ", MAX_PIECE_LENGTH);
  return space > 0 ? space : MAX_PIECE_LENGTH;
}

function toSpeakable(pieces: readonly string[]): string[] {
  return pieces
    .map((piece) => piece.replaceAll(/\s+/g, " ").trim())
    .filter((piece) => /[\p{L}\p{N}]/u.test(piece));
}
