/** The callers of one program, each with the runtime's end of the same call. */
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "ws";
import type { SetUpFigures } from "./questions.ts";
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

  /** As `timeSetUps`, with a new caller at each tick of a fixed rate, whether or not those before are connected. */
  async timeSetUpsAtRate(calls: number, perSecond: number): Promise<SetUpFigures> {
    const startedAt = performance.now();
    const running: Promise<number>[] = [];
    let senderLateMs = 0;
    while (running.length < calls) {
      const dueAt = startedAt + (running.length * 1000) / perSecond;
      await wait(Math.max(0, dueAt - performance.now()));
      senderLateMs = Math.max(senderLateMs, performance.now() - dueAt);
      running.push(this.#timeConcurrentSetUp());
    }
    return { beyondRuntimeMs: await Promise.all(running), senderLateMs };
  }

  /** The runtime's first frame says how long the runtime took, for callers and calls are not paired here. */
  async #timeConcurrentSetUp(): Promise<number> {
    const startedAt = performance.now();
    const caller = this.#dial();
    const heard = once(caller, "message");
    const { socket, ownMs } = await this.#runtime.nextCall();
    const frame = Buffer.alloc(960);
    frame.writeDoubleLE(ownMs);
    socket.send(frame);
    const [data] = await heard;
    const beyondMs = performance.now() - startedAt - data.readDoubleLE();
    await hangUp(caller);
    return beyondMs;
  }

  /** Hangs up so many of the oldest calls, and opens as many new ones. */
  async renew(calls: number): Promise<void> {
    const level = this.calls.length;
    await Promise.all(this.calls.splice(0, calls).map(({ caller }) => hangUp(caller)));
    await this.grow(level);
  }

  async close(): Promise<void> {
    await Promise.all(this.calls.map(({ caller }) => hangUp(caller)));
    this.calls.length = 0;
  }

  async #connect(): Promise<{ caller: WebSocket; runtimeCall: RuntimeCall }> {
    const caller = this.#dial();
    const closed = once(caller, "close").then(([code]) => {
      throw new Error(`the call was closed with ${code} before it was connected`);
    });
    const runtimeCall = await Promise.race([this.#runtime.nextCall(), closed]);
    closed.catch(() => {});
    return { caller, runtimeCall };
  }

  #dial(): WebSocket {
    // A mask of zeros is a mask: the far ends save the work of masking, the program between them does not.
    const caller = new WebSocket(this.#voiceUrl, { perMessageDeflate: false, generateMask: () => {} });
    caller.on("error", () => {});
    return caller;
  }
}

async function hangUp(caller: WebSocket): Promise<void> {
  if (caller.readyState === WebSocket.CLOSED) return;
  const closed = once(caller, "close");
  caller.close(1000);
  await closed;
}
