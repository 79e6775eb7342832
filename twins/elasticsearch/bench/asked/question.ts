/** A question that is asked twice: of the twin, in the vendor's language, and of plain DuckDB, in SQL written by hand. */
import type { Answer, AskByHand } from "@offhook/log-store/bench/questions";

export interface Question {
  name: string;
  /** Full text, or few of many events: at most this long whatever their number. */
  withinMs?: number;
  /** Asked in turns. They differ in the value that is looked for, not in how much there is to do. */
  variants: readonly Variant[];
}

export interface Variant {
  /** Path below the twin's address. */
  path: string;
  body: object;
  /** What the twin answered. @throws Error when it is of another shape */
  read(body: unknown): Answer;
  byHand(ask: AskByHand): Promise<Answer>;
}
