/** Whether a process of this machine still runs: what one that was killed left behind is nobody's. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It runs, and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
