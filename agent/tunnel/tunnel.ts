/** A way into this machine from outside. */

export interface Tunnel {
  /** Public base address, without a slash at the end. */
  url: string;
  /** Resolves with the reason when the tunnel no longer works; never after `close`. */
  died: Promise<string>;
  close(): Promise<void>;
}

/** Makes one attempt, in bounded time. @throws Error saying why there is no tunnel */
export type OpenTunnel = () => Promise<Tunnel>;
