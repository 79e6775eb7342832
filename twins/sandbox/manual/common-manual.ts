/** What is the same on every twin, where the specification leaves it open: one sentence each, proved on every twin. */
import type { ManualSentence } from "./manual.ts";

export const commonManual: readonly ManualSentence[] = [];
