/** The search twin at work in one sandbox. */

import type { LogStore } from "@offhook/log-store/store/log-store";
import type { Translator } from "@offhook/log-store/translator/translator";
import type { Clock } from "@offhook/platform/base/clock";
import type { RunningTwin } from "@offhook/platform/twin/twin";
import type { Logger } from "pino";
import type { DocumentWriter } from "./documents/document-writer.ts";
import type { Aliases } from "./indices/aliases.ts";
import type { Templates } from "./indices/templates.ts";
import type { OpenSearches } from "./search/open-searches.ts";
import type { Fidelity } from "./vendor/fidelity.ts";

export interface SearchTwin extends RunningTwin {
  /** Opened by the first request that needs it. */
  store(): Promise<LogStore>;
  /** What every write goes through. */
  readonly documents: DocumentWriter;
  /** Scrolls, points in time and async searches. */
  readonly open: OpenSearches;
  readonly fidelity: Fidelity;
  /** The sandbox's: `now` in a query, and every timestamp in an answer. */
  readonly clock: Clock;
  /** When it was started, by that clock: when its indices say they were made. */
  readonly startedMs: number;
  /** Name of the index that a dataset's rows without an `_index` of their own are in. */
  readonly index: string;
  /** Other names of the dataset's indices, by index. */
  readonly datasetAliases: Map<string, Aliases>;
  /** What indices are made with. */
  readonly templates: Templates;
  /** Absent: what the compilers do not recognise is refused. */
  readonly translator: Translator | undefined;
  /** Which of the two is asked first about an ES|QL query. */
  readonly translatorOrder: "compiler-first" | "model-first";
  readonly log: Logger;
}
