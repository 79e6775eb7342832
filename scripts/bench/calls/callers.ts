/** The callers of one program, each with the runtime's end of the same call. */
import { once } from "node:events";
import { WebSocket } from "ws";
import type { RuntimeCall, StandInRuntime } from "./runtime.ts";

/** Both far ends of one call. */
export interface CallEnds {
  caller: WebSocket;
  runtime: WebSocket;
}

export class CallerPool {
  readonly calls: CallEnds[] = [];
  readonly #voiceUrl: string;
  readonly #runtime: StandInRuntime;

  constructor(voiceUrl: string, runtime: StandInRuntime) {
    this.#voiceUrl = voiceUrl;
    this.#runtime = runtime;
  }

  async grow(calls: number): Promise<void> {
    while (this.calls.length < calls) {
      const { caller, runtimeCall } = await this.#connect();
      this.calls.push({ caller, runtime: runtimeCall.socket });
    }
  }

  /** From the caller's first packet to the first audio of the runtime in the caller's ear, less the runtime's own time. */
  async timeSetUps(calls: number): Promise<number[]> {
    const times: number[] = [];
    for (let i = 0; i < calls; i++) {
      const startedAt = performance.now();
      const { caller, runtimeCall } = await this.#connect();
      const heard = once(caller, "message");
      runtimeCall.socket.send(Buffer.alloc(960));
      await heard;
      times.push(performance.now() - startedAt - runtimeCall.ownMs);
      await hangUp(caller);
    }
    return times;
  }

  async close(): Promise<void> {
    await Promise.all(this.calls.map(({ caller }) => hangUp(caller)));
    this.calls.length = 0;
  }

  async #connect(): Promise<{ caller: WebSocket; runtimeCall: RuntimeCall }> {
    // A mask of zeros is a mask: the far ends save the work of masking, the program between them does not.
    const caller = new WebSocket(this.#voiceUrl, { perMessageDeflate: false, generateMask: () => {} });
    const closed = once(caller, "close").then(([code]) => {
      throw new Error(`the call was closed with ${code} before it was connected`);
    });
    const runtimeCall = await Promise.race([this.#runtime.nextCall(), closed]);
    closed.catch(() => {});
    caller.on("error", () => {});
    return { caller, runtimeCall };
  }
}

async function hangUp(caller: WebSocket): Promise<void> {
  if (caller.readyState === WebSocket.CLOSED) return;
  const closed = once(caller, "close");
  caller.close(1000);
  await closed;
}
