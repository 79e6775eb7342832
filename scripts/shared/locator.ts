/** What the running twins and the running agent left in `.offhook/` about where they listen. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "@offhook/platform/base/is-running";
import { z } from "zod";

const LOCATOR_FOLDER = ".offhook";

const agentLocator = z.object({ url: z.url(), pid: z.number() });
const twinsLocator = z.object({
  base_url: z.url(),
  api_key: z.string(),
  pid: z.number(),
  /** How the environment file says that a caller reaches the agent. */
  channels: z.array(z.object({ url: z.url(), protocol: z.enum(["binary", "json"]) })).default([]),
});

/** Where the agent of this folder listens; `undefined` when none runs. */
export function locateAgent(): z.infer<typeof agentLocator> | undefined {
  return locate("agent", agentLocator);
}

/** Where the twins of this folder listen, and their key; `undefined` when none run. */
export function locateTwins(): z.infer<typeof twinsLocator> | undefined {
  return locate("twins", twinsLocator);
}

function locate<Locator extends { pid: number }>(
  name: string,
  schema: z.ZodType<Locator>,
): Locator | undefined {
  let text: string;
  try {
    text = readFileSync(join(LOCATOR_FOLDER, `${name}.json`), "utf8");
  } catch {
    return undefined;
  }
  const found = schema.safeParse(parse(text));
  return found.success && isRunning(found.data.pid) ? found.data : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
