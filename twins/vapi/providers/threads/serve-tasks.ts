/** The worker's side of a `WorkerPool`. */
import { parentPort, workerData } from "node:worker_threads";

/** The message to a worker. */
export interface WorkerTask<Request> {
  id: number;
  request: Request;
}

/** The worker's answer. */
export type WorkerAnswer<Result> = { id: number } & ({ result: Result } | { error: string });

/** The `data` option of the pool. */
export function poolData(): unknown {
  return workerData.data;
}

/** Answers every task with what `handle` returns or throws. An `Int16Array` result is transferred, not copied. */
export function serveTasks<Request, Result>(handle: (request: Request) => Result): void {
  const port = parentPort;
  if (port === null) throw new Error("serveTasks runs in a worker thread only");
  port.on("message", ({ id, request }: WorkerTask<Request>) => {
    port.postMessage(...answer(id, () => handle(request)));
  });
}

function answer<Result>(id: number, run: () => Result): [WorkerAnswer<Result>, ArrayBuffer[]] {
  try {
    const result = run();
    const moved = result instanceof Int16Array && result.buffer instanceof ArrayBuffer ? [result.buffer] : [];
    return [{ id, result }, moved];
  } catch (error) {
    return [{ id, error: error instanceof Error ? error.message : String(error) }, []];
  }
}
