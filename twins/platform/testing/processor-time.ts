/**
 * How much work something is, by the processor's time instead of the wall's: other programs on the machine make a test
 * wait, and this figure hardly longer. All threads of the process count, so do not run two measurements side by side.
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
