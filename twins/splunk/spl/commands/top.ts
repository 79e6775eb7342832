/** `top`: the most frequent values. */
import { frequencyCommand } from "../stats/frequency.ts";

export const top = frequencyCommand("top", ["common"], "DESC");
