/** The stream from a client to the server. It delays a statement that an armed fault hits, and everything after it. */
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { Transform, type TransformCallback } from "node:stream";
import type { ArmedFault } from "@offhook/platform/faults/armed-fault";
import { type FaultGate, holdUp } from "@offhook/platform/faults/connection-effects";
import type { RequestFault } from "@offhook/platform/faults/fault";
import type { CompleteEntry, Journal } from "@offhook/platform/journal/journal";

type Recorded = Parameters<Journal["record"]>[0];
const nothing = Buffer.alloc(0);

export class GatedStatements extends Transform implements Pick<Journal, "record"> {
  readonly #client: Socket;
  readonly #journal: Pick<Journal, "record">;
  readonly #faults: FaultGate;
  #reader: { clientSent(chunk: Buffer): void } | undefined;
  /** Whether the current records come from the client's bytes, not from the server's. */
  #fromClient = false;
  #hits: ArmedFault<RequestFault>[] = [];

  constructor(client: Socket, journal: Pick<Journal, "record">, faults: FaultGate) {
    super();
    this.#client = client;
    this.#journal = journal;
    this.#faults = faults;
  }

  /** Sets the reader of the passing bytes, which calls `record` for each statement. */
  setReader(reader: { clientSent(chunk: Buffer): void }): void {
    this.#reader = reader;
  }

  /** Applies a fault to a new connection. @returns whether the connection goes on */
  async admit(parameters: ReadonlyMap<string, string>): Promise<boolean> {
    const user = parameters.get("user") ?? "";
    const request = {
      operation: "connection",
      method: "CONNECT",
      path: `/${parameters.get("database") ?? user}`,
      headers: { user, application_name: parameters.get("application_name") ?? "" },
      body: nothing,
    };
    const fault = this.#faults.forRequest(request);
    if (!fault) return true;
    const startedAt = performance.now();
    const query = new URLSearchParams();
    const complete = this.#journal.record({ ...request, tier: "vendor", query, startedAt });
    const goesOn = await holdUp(fault, this.#client);
    complete({ status: goesOn ? 200 : null, headers: {}, body: nothing, fault: fault.label });
    return goesOn;
  }

  /** Records a statement in the journal, with the fault that hits it. */
  record(request: Recorded): CompleteEntry {
    const complete = this.#journal.record(request);
    const { operation, method, path, headers, body } = request;
    if (!this.#fromClient || operation === null) return complete;
    const subject = { operation, method, path, headers: textsOf(headers), body };
    const fault = this.#faults.forRequest(subject);
    if (!fault) return complete;
    this.#hits.push(fault);
    return (answer) => complete({ ...answer, fault: fault.label });
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.#fromClient = true;
    this.#reader?.clientSent(chunk);
    this.#fromClient = false;
    if (this.#hits.length === 0) {
      done(null, chunk);
      return;
    }
    const hits = this.#hits;
    this.#hits = [];
    void this.#allGoOn(hits).then((goOn) => {
      // Without the callback the stream stops: the fault has ended the connection.
      if (goOn) done(null, chunk);
    });
  }

  async #allGoOn(hits: ArmedFault<RequestFault>[]): Promise<boolean> {
    for (const fault of hits) if (!(await holdUp(fault, this.#client))) return false;
    return true;
  }
}

function textsOf(headers: Recorded["headers"]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value ?? "")]));
}
