/** `rare`: the values that are there least often. */
import { frequencyCommand } from "../stats/frequency.ts";

export const rare = frequencyCommand("rare", [], "ASC");
