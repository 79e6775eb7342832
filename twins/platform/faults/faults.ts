/** The faults of one twin, tried in the order in which they were armed; the first that matches strikes. */
import { ArmedFault } from "./armed-fault.ts";
import { type Fault, isRequestFault, isSocketFault, type RequestFault, type SocketFault } from "./fault.ts";
import type { FaultSubject } from "./subject.ts";

/** Faults of one twin at a time, spent ones included as long as there is room for them. */
export const MAX_FAULTS = 100;

export class Faults {
  readonly #all = new Map<string, ArmedFault>();
  #requests: ArmedFault<RequestFault>[] = [];
  #sockets: ArmedFault<SocketFault>[] = [];
  /** Timers of those that are removed by themselves. */
  readonly #expiries = new Map<string, NodeJS.Timeout>();
  #armed = 0;

  /** Answers `undefined` when there is no room: as many as there may be are armed. */
  arm(spec: Fault): ArmedFault | undefined {
    if (this.#all.size >= MAX_FAULTS && !this.#dropSpent()) return undefined;
    this.#armed += 1;
    const id = `fault-${this.#armed}`;
    if (isRequestFault(spec)) return this.#keep(this.#requests, new ArmedFault(id, spec));
    if (isSocketFault(spec)) return this.#keep(this.#sockets, new ArmedFault(id, spec));
    return undefined;
  }

  list(): ArmedFault[] {
    return [...this.#all.values()];
  }

  /** Removes one fault and returns it; the requests it holds up continue. */
  remove(id: string): ArmedFault | undefined {
    const fault = this.#all.get(id);
    if (!fault) return undefined;
    this.#all.delete(id);
    clearTimeout(this.#expiries.get(id));
    this.#expiries.delete(id);
    this.#requests = this.#requests.filter((other) => other.id !== id);
    this.#sockets = this.#sockets.filter((other) => other.id !== id);
    fault.remove();
    return fault;
  }

  /** Removes all faults. @returns how many there were */
  removeAll(): number {
    const ids = [...this.#all.keys()];
    for (const id of ids) this.remove(id);
    return ids.length;
  }

  /** The fault that strikes this request, if any. Counts it. */
  forRequest(subject: FaultSubject): ArmedFault<RequestFault> | undefined {
    if (this.#requests.length === 0) return undefined;
    const hit = this.#requests.find((fault) => fault.strikes(subject));
    if (hit?.spent) this.#requests = this.#requests.filter((fault) => fault !== hit);
    return hit;
  }

  /** The fault that strikes this upgrade, if any. Counts it. */
  forUpgrade(subject: FaultSubject): ArmedFault<SocketFault> | undefined {
    if (this.#sockets.length === 0) return undefined;
    const hit = this.#sockets.find((fault) => fault.strikes(subject));
    if (hit?.spent) this.#sockets = this.#sockets.filter((fault) => fault !== hit);
    return hit;
  }

  #keep<Spec extends Fault>(list: ArmedFault<Spec>[], fault: ArmedFault<Spec>): ArmedFault<Spec> {
    list.push(fault);
    this.#all.set(fault.id, fault);
    const { ttl_seconds } = fault.spec;
    if (ttl_seconds !== undefined) {
      const expiry = setTimeout(() => this.remove(fault.id), ttl_seconds * 1000).unref();
      this.#expiries.set(fault.id, expiry);
    }
    return fault;
  }

  /** Lets the oldest spent fault go that holds nothing up. */
  #dropSpent(): boolean {
    const spent = this.list().find((fault) => fault.spent && fault.waiting === 0);
    return spent !== undefined && this.remove(spent.id) !== undefined;
  }
}
