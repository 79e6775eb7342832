/** Runs a program to its end as if it had been started directly: its input and output, signals and exit status. */
import { spawn } from "node:child_process";
import os from "node:os";
import { guardChild } from "../base/child-guard.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"] as const;
/** What a shell answers for a command that is not there, and for one that may not be run. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

/** Answers the exit status; 128 and the signal's number for a program that a signal has ended, as shells do. */
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
        // A terminal's Ctrl-C has reached the program already: it is in the same group.
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
