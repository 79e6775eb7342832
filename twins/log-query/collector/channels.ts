/** Acknowledgements: for each channel of a token, which requests have been stored and not been asked about. */

/** How many channels there may be, and how many requests of one that nobody has asked about. */
const MAX_CHANNELS = 10_000;
const MAX_PENDING = 100_000;

interface Channel {
  nextId: number;
  stored: Set<number>;
}

export class Channels {
  readonly #channels = new Map<string, Channel>();

  /** Whether another request of this channel can be remembered. */
  hasRoom(token: string, channel: string): boolean {
    const known = this.#channels.get(keyOf(token, channel));
    return known ? known.stored.size < MAX_PENDING : this.#channels.size < MAX_CHANNELS;
  }

  /** A request has been stored. @returns its number in the channel, from 0 */
  stored(token: string, channel: string): number {
    const key = keyOf(token, channel);
    const known = this.#channels.get(key) ?? { nextId: 0, stored: new Set() };
    this.#channels.set(key, known);
    const id = known.nextId++;
    known.stored.add(id);
    return id;
  }

  /** Whether the request is stored. What has been answered with yes is forgotten. */
  ask(token: string, channel: string, id: number): boolean {
    return this.#channels.get(keyOf(token, channel))?.stored.delete(id) ?? false;
  }

  /** Forgets everything. */
  clear(): void {
    this.#channels.clear();
  }
}

const keyOf = (token: string, channel: string) => `${token}\0${channel.toLowerCase()}`;
