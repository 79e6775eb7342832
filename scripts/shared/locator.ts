/** Locates the running twins and agent through the files they write to `.offhook/`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "@offhook/platform/base/is-running";
import { z } from "zod";

const LOCATOR_FOLDER = ".offhook";

const agentLocator = z.object({ url: z.url(), pid: z.number() });
const twinsLocator = z.object({
  base_url: z.url(),
  api_key: z.string(),
  /** Absent without a console. */
  console_url: z.url().optional(),
  pid: z.number(),
  /** The agent's voice channels, from the environment file. */
  channels: z.array(z.object({ url: z.url(), protocol: z.enum(["binary", "json"]) })).default([]),
});

/** The address of this folder's agent; `undefined` when none runs. */
export function locateAgent(): z.infer<typeof agentLocator> | undefined {
  return locate("agent", agentLocator);
}

/** The address and key of this folder's twins; `undefined` when none run. */
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
