/** The worker processes of one campaign on this machine: as many as asked for, one that dies is replaced. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { guardChild } from "@offhook/platform/base/child-guard";
import { PROJECT } from "../shared/folders.ts";
import type { WorkOptions } from "./options.ts";

const START = fileURLToPath(new URL("../shared/start.cjs", import.meta.url));
const PROGRAM = fileURLToPath(new URL("../campaign.ts", import.meta.url));
/** A worker that ends sooner than this did not come to work: it is not started again without end. */
const USEFUL_MS = 20_000;
const MAX_USELESS = 3;
/** Its parent is gone: a worker finishes its calls first. */
const PATIENCE_MS = 660_000;

export interface Crew {
  /** Resolves when every worker has ended. @returns whether all of them ended well */
  ended: Promise<boolean>;
  /** The workers finish their calls and end. */
  finish(): void;
  /** The workers end now; their calls begin again elsewhere. */
  endAtOnce(): void;
}

export function startCrew(campaign: string, work: WorkOptions): Crew {
  const children = new Set<ChildProcess>();
  let isEnding = false;

  const member = async (): Promise<boolean> => {
    for (let useless = 0; ; ) {
      const startedAtMs = performance.now();
      const child = startWorker(campaign, work);
      children.add(child);
      const [code] = await new Promise<[number | null]>((resolve) => {
        child.once("exit", (status) => resolve([status]));
        child.once("error", () => resolve([null]));
      });
      children.delete(child);
      if (code === 0 || isEnding) return code === 0;
      useless = performance.now() - startedAtMs < USEFUL_MS ? useless + 1 : 0;
      if (useless >= MAX_USELESS) return false;
    }
  };

  const end = (signal: "SIGTERM" | "SIGQUIT") => {
    isEnding = true;
    for (const child of children) child.kill(signal);
  };

  return {
    ended: Promise.all(Array.from({ length: work.workers }, member)).then((ends) => ends.every(Boolean)),
    finish: () => end("SIGTERM"),
    endAtOnce: () => end("SIGQUIT"),
  };
}

/** Not in the terminal's group: Ctrl-C reaches it through its parent, once. */
function startWorker(campaign: string, { concurrency, agent, twins, key }: WorkOptions): ChildProcess {
  const args = ["worker", "--campaign", campaign, "--concurrency", String(concurrency)];
  for (const url of agent) args.push("--agent", url);
  if (twins !== undefined) args.push("--twins", twins);
  const child = spawn(process.execPath, [START, PROGRAM, ...args], {
    cwd: PROJECT,
    env: { ...process.env, ...(key === undefined ? {} : { SANDBOX_API_KEY: key }) },
    stdio: ["ignore", "ignore", "inherit"],
    detached: true,
  });
  guardChild(child, { reach: "group", patienceMs: PATIENCE_MS });
  return child;
}
