/** `.offhook/dev.json`, by which `npm run dev` tells `npm run dial` whether its agent can take calls. */
import { mkdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "@offhook/platform/base/is-running";
import { UsageError } from "@offhook/platform/server/command-line";
import { z } from "zod";

const FOLDER = ".offhook";
const FILE = join(FOLDER, "dev.json");
const WAIT_MS = 60_000;
/** Polling interval: a killed `dev` does not update its file. */
const CHECK_MS = 1_000;

const devState = z.object({
  pid: z.number(),
  /** `starting`: ready soon. `down`: not before a file changes. */
  state: z.enum(["starting", "ready", "down"]),
  /** Why it is not ready. */
  reason: z.string(),
  /** The agent's address, once it is known. */
  agent_url: z.string().optional(),
});
export type DevState = Omit<z.infer<typeof devState>, "pid">;

/** Writes the state of `dev`, atomically. */
export function writeDevState(state: DevState): void {
  mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
  const draft = `${FILE}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ ...state, pid: process.pid })}\n`, { mode: 0o600 });
  renameSync(draft, FILE);
}

/** Removes the file, unless another `dev` has written it since. */
export function removeDevState(): void {
  if (read()?.pid === process.pid) rmSync(FILE, { force: true });
}

/**
 * Waits while a `dev` of this folder starts its agent. Returns at once when no `dev` runs here, or when the call goes to
 * another agent.
 * @param address of the agent to call, if the user named one
 * @param onWait called once with the reason, if there is a wait
 * @throws UsageError when `dev` runs and its agent does not become ready
 */
export async function waitForDev(address: string | undefined, onWait: (what: string) => void): Promise<void> {
  const first = readRunning();
  if (first === undefined || first.state === "ready" || !isAgentOf(first, address)) return;
  if (first.state === "starting") {
    onWait(first.reason);
    await waitUntilDecided();
  }
  const last = readRunning();
  if (last === undefined || last.state === "ready") return;
  const waited = last.state === "starting" ? `not ready after ${WAIT_MS / 1000} s` : "down";
  throw new UsageError(`the agent of npm run dev is ${waited}: ${last.reason}; its terminal says more`);
}

/** Resolves when `dev` is ready, down or gone, at the latest after `WAIT_MS`. */
function waitUntilDecided(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (readRunning()?.state === "starting") return;
      watcher.close();
      clearInterval(check);
      clearTimeout(giveUp);
      resolve();
    };
    const watcher = watch(FOLDER, look);
    const check = setInterval(look, CHECK_MS);
    const giveUp = setTimeout(() => {
      watcher.close();
      clearInterval(check);
      resolve();
    }, WAIT_MS);
    look();
  });
}

function isAgentOf({ agent_url }: DevState, address: string | undefined): boolean {
  if (address === undefined) return true;
  if (agent_url === undefined || !URL.canParse(address)) return false;
  return new URL(address).host === new URL(agent_url).host;
}

function readRunning(): z.infer<typeof devState> | undefined {
  const state = read();
  return state !== undefined && isRunning(state.pid) ? state : undefined;
}

function read(): z.infer<typeof devState> | undefined {
  try {
    return devState.safeParse(JSON.parse(readFileSync(FILE, "utf8"))).data;
  } catch {
    return undefined;
  }
}
