/** Apart from the house: who only reads addresses need not load twins and agent. */
import type { RunningTwins } from "@offhook/platform/server/start";

/** The variables by which an agent finds the twins of the first sandbox. */
export function clientEnvironment({ sandboxes }: Pick<RunningTwins, "sandboxes">): Record<string, string> {
  return Object.assign({}, ...(sandboxes[0]?.twins ?? []).map(({ environment }) => environment));
}
