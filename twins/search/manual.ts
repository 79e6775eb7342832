/** How the search twin behaves, for who drives it. */
import type { TwinManual } from "../sandbox/manual/manual.ts";

export const searchManual: TwinManual = {
  credentials: [
    {
      id: "elasticsearch.any-credentials",
      text: "Any credentials are accepted, and none are needed; they are masked in the journal.",
    },
  ],
  repeatedWrites: [
    {
      id: "elasticsearch.index-again",
      text: "Indexing a document under the same id twice replaces it, with its version grown by one; without an id it makes two documents.",
    },
    {
      id: "elasticsearch.create-again",
      text: "Creating a document under the same id twice is a 409 in the vendor's words, and changes nothing.",
    },
    {
      id: "elasticsearch.index-made-again",
      text: "Creating or deleting an index is acknowledged every time, and has no effect.",
    },
  ],
};
