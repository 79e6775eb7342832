/** Operating notes as data: a list of sentences, each proved by a test of the same id. */

/** One fact about how a twin behaves. */
export interface ManualSentence {
  /** Stable name, `topic.fact`; the test that proves the sentence is registered under it. */
  id: string;
  text: string;
}

/** A twin's own sentences; the platform adds those that hold for all twins. */
export interface TwinManual {
  /** Which credentials its vendor API accepts, and how it answers a wrong one. */
  credentials: readonly ManualSentence[];
  /** The effect of a second identical write. */
  repeatedWrites: readonly ManualSentence[];
  /** Further notes for a tester. */
  notes?: readonly ManualSentence[];
}
