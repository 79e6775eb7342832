/** `rare`: the least frequent values. */
import { frequencyCommand } from "../stats/frequency.ts";

export const rare = frequencyCommand("rare", [], "ASC");
