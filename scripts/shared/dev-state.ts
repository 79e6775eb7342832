/** `.offhook/dev.json`: `npm run dev` tells `npm run dial` whether what it runs can take calls. */
import { mkdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "@offhook/platform/base/is-running";
import { UsageError } from "@offhook/platform/server/command-line";
import { z } from "zod";

const FOLDER = ".offhook";
const FILE = join(FOLDER, "dev.json");
const WAIT_MS = 60_000;
/** A killed `dev` leaves its file as it was, so nothing tells of its end. */
const CHECK_MS = 1_000;

const devState = z.object({
  pid: z.number(),
  /** `starting`: calls can be taken soon. `down`: not before a file changes. */
  state: z.enum(["starting", "ready", "down"]),
  /** Why it is so; empty when ready. */
  reason: z.string(),
  /** The agent's address, once it has listened. */
  agent_url: z.string().optional(),
});
export type DevState = Omit<z.infer<typeof devState>, "pid">;

/** Says how `dev` is. The file appears at once with its whole content. */
export function writeDevState(state: DevState): void {
  mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
  const draft = `${FILE}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ ...state, pid: process.pid })}\n`, { mode: 0o600 });
  renameSync(draft, FILE);
}

/** Unless another `dev` has written its own since. */
export function removeDevState(): void {
  if (read()?.pid === process.pid) rmSync(FILE, { force: true });
}

/**
 * Waits while a `dev` of this folder starts what is to be called. Returns at once when none runs here, or when another
 * agent than its own is called.
 * @param address of the agent that is called, when the user named one
 * @param onWait called once, with what is waited for, when there is something
 * @throws UsageError when `dev` runs, and what it runs takes no calls even so
 */
export async function waitForDev(address: string | undefined, onWait: (what: string) => void): Promise<void> {
  const first = running();
  if (first === undefined || first.state === "ready" || !isAgentOf(first, address)) return;
  if (first.state === "starting") {
    onWait(first.reason);
    await untilDecided();
  }
  const last = running();
  if (last === undefined || last.state === "ready") return;
  const waited = last.state === "starting" ? `not ready after ${WAIT_MS / 1000} s` : "down";
  throw new UsageError(`what npm run dev runs is ${waited}: ${last.reason}; its terminal says more`);
}

/** Settles when `dev` is ready, down or gone, and after `WAIT_MS` in any case. */
function untilDecided(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (running()?.state === "starting") return;
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

function running(): z.infer<typeof devState> | undefined {
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
