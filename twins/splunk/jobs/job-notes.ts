/** The messages of a job for its owner, and the lines of its search.log. */
import type { OutOfMemory } from "@offhook/log-store/store/log-store";
import type { Clock } from "@offhook/platform/base/clock";
import type { SearchMessage } from "../spl/spl-error.ts";

export interface LogLine {
  atMs: number;
  level: "INFO" | "WARN" | "ERROR";
  /** The part of splunkd that would write the line. */
  component: string;
  text: string;
}

const MAX_LINES = 2_000;
const MAX_MESSAGES = 100;
/** A statement is as long as the values in it. */
const MAX_LINE_CHARACTERS = 4_000;

export class JobNotes {
  readonly messages: SearchMessage[] = [];
  readonly lines: LogLine[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(component: string, text: string, level: LogLine["level"] = "INFO"): void {
    if (this.lines.length >= MAX_LINES) return;
    this.lines.push({ atMs: this.#clock.now(), level, component, text: text.slice(0, MAX_LINE_CHARACTERS) });
  }

  say(...messages: readonly SearchMessage[]): void {
    for (const message of messages) {
      if (this.messages.length >= MAX_MESSAGES) return;
      // A preview runs parts of the search again.
      if (this.messages.some(({ type, text }) => type === message.type && text === message.text)) continue;
      this.messages.push(message);
      const level = message.type === "WARN" ? "WARN" : message.type === "INFO" ? "INFO" : "ERROR";
      this.note("SearchMessages", message.text, level);
    }
  }
}

/**
 * Splunkd's message about a search process that its memory tracker ended.
 * Source: https://docs.splunk.com/Documentation/Splunk/9.3.0/Search/Limitsearchprocessmemoryusage
 * @param sid absent where a request searches without a job
 */
export function memoryExceededMessage({ limitBytes }: OutOfMemory, sid?: string): string {
  const limit = (limitBytes / 2 ** 20).toFixed(6);
  const process = `The search process${sid === undefined ? "" : ` with sid=${sid}`}`;
  return `${process} was forcefully terminated because its physical memory usage (${limit} MB) has exceeded the 'search_process_memory_usage_threshold' (${limit} MB) setting in limits.conf.`;
}
