/** Acknowledgements: the stored requests of each channel that the client has not queried yet. */
import type { ChannelLimits } from "./settings.ts";

interface Channel {
  nextId: number;
  stored: Set<number>;
  usedMs: number;
}

/** Fill ratios of the channels; 1 is full. */
export interface ChannelUsage {
  /** Of the fullest channel, or of all together if higher. */
  readonly fullest: number;
  /** Of the emptiest channel, or of all together if higher: at 1 no channel has room. */
  readonly emptiest: number;
}

export class Channels {
  /** By token and channel, the least recently used first. */
  readonly #channels = new Map<string, Channel>();
  #pending = 0;

  /** Whether the channel has room for another request. */
  hasRoom(token: string, channel: string, limits: ChannelLimits, nowMs: number): boolean {
    this.#dropIdle(limits, nowMs);
    if (this.#pending >= limits.pending) return false;
    const known = this.#channels.get(keyOf(token, channel));
    return known ? known.stored.size < limits.pendingOfChannel : this.#channels.size < limits.channels;
  }

  /** Records a stored request. @returns its id in the channel, from 0 */
  recordStored(token: string, channel: string, nowMs: number): number {
    const known = this.#touch(keyOf(token, channel), nowMs);
    const id = known.nextId++;
    known.stored.add(id);
    this.#pending++;
    return id;
  }

  /** Acknowledges a request, once: true when it is stored, and forgotten from then on. */
  acknowledge(token: string, channel: string, id: number, nowMs: number): boolean {
    const key = keyOf(token, channel);
    if (!this.#channels.has(key)) return false;
    const stored = this.#touch(key, nowMs).stored.delete(id);
    if (stored) this.#pending--;
    return stored;
  }

  usage(limits: ChannelLimits, nowMs: number): ChannelUsage {
    this.#dropIdle(limits, nowMs);
    const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole);
    const together = share(this.#pending, limits.pending);
    let [fullest, emptiest] = [0, this.#channels.size === 0 ? 0 : 1];
    for (const { stored } of this.#channels.values()) {
      const used = share(stored.size, limits.pendingOfChannel);
      fullest = Math.max(fullest, used);
      emptiest = Math.min(emptiest, used);
    }
    const listed = share(this.#channels.size, limits.channels);
    return { fullest: Math.max(fullest, together, listed), emptiest: Math.max(emptiest, together) };
  }

  /** Removes all channels. */
  clear(): void {
    this.#channels.clear();
    this.#pending = 0;
  }

  #touch(key: string, nowMs: number): Channel {
    const known = this.#channels.get(key) ?? { nextId: 0, stored: new Set(), usedMs: nowMs };
    known.usedMs = nowMs;
    this.#channels.delete(key);
    this.#channels.set(key, known);
    return known;
  }

  #dropIdle({ idleMs }: ChannelLimits, nowMs: number): void {
    if (idleMs === undefined) return;
    for (const [key, { usedMs, stored }] of this.#channels) {
      if (nowMs - usedMs < idleMs) break;
      this.#channels.delete(key);
      this.#pending -= stored.size;
    }
  }
}

const keyOf = (token: string, channel: string) => `${token}\0${channel.toLowerCase()}`;
