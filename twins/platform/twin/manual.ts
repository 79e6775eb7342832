/** Operating notes as data: one sentence after the other, each with an id by which a test proves it. */

/** One fact about how a twin behaves. */
export interface ManualSentence {
  /** Stable name, `topic.fact`; the test that proves the sentence is registered under it. */
  id: string;
  text: string;
}

/** What a twin says about itself; the platform adds what all twins have in common. */
export interface TwinManual {
  /** Which credentials its vendor API accepts, and what a wrong one is answered with. */
  credentials: readonly ManualSentence[];
  /** What a second identical write does. */
  repeatedWrites: readonly ManualSentence[];
  /** What else somebody who drives it should know. */
  notes?: readonly ManualSentence[];
}
