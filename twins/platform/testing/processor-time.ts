/**
 * Measures work by CPU time instead of wall time, which other programs on the machine hardly affect. All threads of the
 * process count, so do not run two measurements in parallel.
 */

/** Processor time of the process since `before`, in milliseconds. */
export function processorMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Processor time of the process while `work` runs, in milliseconds. */
export function processorMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return processorMsSince(before);
}
