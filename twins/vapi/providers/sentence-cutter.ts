/** Cuts text into speakable pieces while it streams in, so that the first sentence is spoken before the last is written. */

/** A sentence that goes on for longer than this is cut at a space. */
const LONGEST_PIECE = 400;

/** A sentence that is over even though nothing follows it yet. */
const ENDED = /[.!?…]["')\]]*\s+$/u;

/** The vendor's token of a model that wants to be heard at once. Source: https://docs.vapi.ai/assistants/flush-syntax */
const FLUSH = /<\s*flush\s*\/?>|<\s*\/\s*flush\s*>/i;

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

export interface SentenceCutter {
  /** Takes the next text; answers the sentences it completed. */
  push(text: string): string[];
  /** What is left when the text is over. */
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
      return speakable(pieces);
    },
    flush() {
      const last = rest;
      rest = "";
      return speakable([last]);
    },
  };
}

function sentencesOf(text: string): string[] {
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

/** Where to cut a piece that is too long: at its last space in reach, else right at the bound. 0: it is short enough. */
function cutAt(text: string): number {
  if (text.length <= LONGEST_PIECE) return 0;
  const space = text.lastIndexOf(" ", LONGEST_PIECE);
  return space > 0 ? space : LONGEST_PIECE;
}

function speakable(pieces: readonly string[]): string[] {
  return pieces
    .map((piece) => piece.replaceAll(/\s+/g, " ").trim())
    .filter((piece) => /[\p{L}\p{N}]/u.test(piece));
}
