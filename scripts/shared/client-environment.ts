/** Not in house.ts, so that programs that only need addresses do not load twins and agent. */
import type { RunningTwins } from "@offhook/platform/server/start";

/** The environment variables that point an agent at the twins of the first sandbox. */
export function clientEnvironment({ sandboxes }: Pick<RunningTwins, "sandboxes">): Record<string, string> {
  return Object.assign({}, ...(sandboxes[0]?.twins ?? []).map(({ environment }) => environment));
}
