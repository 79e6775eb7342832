/** Runs a program as if it had been started directly: with its input and output, signals and exit status. */
import { spawn } from "node:child_process";
import os from "node:os";
import { guardChild } from "../base/child-guard.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"] as const;
/** A shell's exit statuses for a missing command, and for one that is not executable. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

/** @returns the exit status; 128 plus the signal's number for a program ended by a signal, as in shells */
export function runCommand(
  command: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "inherit", env: environment });
    guardChild(child, { reach: "child" });
    const handlers = SIGNALS.map((signal) => {
      const handler = () => {
        // A terminal's Ctrl-C already reaches the program, which is in the same process group.
        if (!(signal === "SIGINT" && process.stdin.isTTY)) child.kill(signal);
      };
      process.on(signal, handler);
      return { signal, handler };
    });
    const finish = (status: number) => {
      for (const { signal, handler } of handlers) process.removeListener(signal, handler);
      resolve(status);
    };
    child.once("error", (error: NodeJS.ErrnoException) => {
      console.error(`${command} cannot be run: ${error.message}`);
      finish(error.code === "ENOENT" ? NOT_FOUND : NOT_RUNNABLE);
    });
    child.once("exit", (code, signal) => {
      finish(signal === null ? (code ?? 0) : 128 + os.constants.signals[signal]);
    });
  });
}
