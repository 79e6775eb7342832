// A worker's first module, in plain JavaScript: it teaches the thread TypeScript if the worker's own file needs it, then starts
// that file. (`--import tsx` as a worker's execArgv does nothing on Node 20.)
import { workerData } from "node:worker_threads";

if (workerData.file.endsWith(".ts")) {
  // biome-ignore lint/correctness/noUndeclaredDependencies: the packed package holds no TypeScript and needs no tsx
  const { register } = await import("tsx/esm/api");
  register();
}
await import(workerData.file);
