/** `top`: the values that are there most often. */
import { frequencyCommand } from "../stats/frequency.ts";

export const top = frequencyCommand("top", ["common"], "DESC");
