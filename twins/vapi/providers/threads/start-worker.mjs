// A worker's first module, in plain JavaScript: it teaches the thread TypeScript, then starts the worker's own file.
// (`--import tsx` as a worker's execArgv does nothing on Node 20.)
import { workerData } from "node:worker_threads";
import { register } from "tsx/esm/api";

register();
await import(workerData.file);
