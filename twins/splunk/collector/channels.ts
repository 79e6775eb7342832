/** Acknowledgements: for each channel of a token, which requests have been stored and not been asked about. */
import type { ChannelLimits } from "./settings.ts";

interface Channel {
  nextId: number;
  stored: Set<number>;
  usedMs: number;
}

/** How full the channels are: 1 is full. */
export interface ChannelUsage {
  /** The fullest one, or all together. */
  readonly most: number;
  /** The emptiest one, or all together: when this is full, all are. */
  readonly least: number;
}

export class Channels {
  /** Longest unused first. */
  readonly #channels = new Map<string, Channel>();
  #pending = 0;

  /** Whether another request of this channel can be remembered. */
  hasRoom(token: string, channel: string, limits: ChannelLimits, nowMs: number): boolean {
    this.#forgetIdle(limits, nowMs);
    if (this.#pending >= limits.pending) return false;
    const known = this.#channels.get(keyOf(token, channel));
    return known ? known.stored.size < limits.pendingOfChannel : this.#channels.size < limits.channels;
  }

  /** A request has been stored. @returns its number in the channel, from 0 */
  stored(token: string, channel: string, nowMs: number): number {
    const known = this.#use(keyOf(token, channel), nowMs);
    const id = known.nextId++;
    known.stored.add(id);
    this.#pending++;
    return id;
  }

  /** Whether the request is stored. What has been answered with yes is forgotten. */
  ask(token: string, channel: string, id: number, nowMs: number): boolean {
    const key = keyOf(token, channel);
    if (!this.#channels.has(key)) return false;
    const stored = this.#use(key, nowMs).stored.delete(id);
    if (stored) this.#pending--;
    return stored;
  }

  use(limits: ChannelLimits, nowMs: number): ChannelUsage {
    this.#forgetIdle(limits, nowMs);
    const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole);
    const together = share(this.#pending, limits.pending);
    let [most, least] = [0, this.#channels.size === 0 ? 0 : 1];
    for (const { stored } of this.#channels.values()) {
      const used = share(stored.size, limits.pendingOfChannel);
      most = Math.max(most, used);
      least = Math.min(least, used);
    }
    const listed = share(this.#channels.size, limits.channels);
    return { most: Math.max(most, together, listed), least: Math.max(least, together) };
  }

  /** Forgets everything. */
  clear(): void {
    this.#channels.clear();
    this.#pending = 0;
  }

  #use(key: string, nowMs: number): Channel {
    const known = this.#channels.get(key) ?? { nextId: 0, stored: new Set(), usedMs: nowMs };
    known.usedMs = nowMs;
    this.#channels.delete(key);
    this.#channels.set(key, known);
    return known;
  }

  #forgetIdle({ idleMs }: ChannelLimits, nowMs: number): void {
    if (idleMs === undefined) return;
    for (const [key, { usedMs, stored }] of this.#channels) {
      if (nowMs - usedMs < idleMs) break;
      this.#channels.delete(key);
      this.#pending -= stored.size;
    }
  }
}

const keyOf = (token: string, channel: string) => `${token}\0${channel.toLowerCase()}`;
