/** The search twin at work in one sandbox. */
import type { RunningTwin } from "@offhook/platform/twin/twin";
import type { DocumentWriter } from "./documents/document-writer.ts";
import type { AsyncQueries } from "./esql/async-queries.ts";
import type { SearchEngine } from "./search/context.ts";
import type { OpenSearches } from "./search/open-searches.ts";

export interface SearchTwin extends RunningTwin, SearchEngine {
  /** Every write goes through it. */
  readonly documents: DocumentWriter;
  /** Scrolls, points in time and async searches. */
  readonly open: OpenSearches;
  /** Asynchronous ES|QL queries. */
  readonly esqlQueries: AsyncQueries;
  /** Start of the twin by the sandbox's clock: the creation time of the dataset's indices. */
  readonly startedMs: number;
  /** Which of the two an ES|QL query goes to first. */
  readonly translatorOrder: "compiler-first" | "model-first";
}
