/** A way into this machine from outside. */

export interface Tunnel {
  /** Public base address, without a slash at the end. */
  url: string;
  /** Resolves with the reason when the tunnel no longer works; never after `close`. */
  died: Promise<string>;
  close(): Promise<void>;
}

/**
 * Makes one attempt, in bounded time, and leaves nothing running when it fails.
 * @param signal gives the attempt up
 * @throws Error saying why there is no tunnel; TunnelServerBusy when the server asks to be left alone for a while
 */
export type OpenTunnel = (signal: AbortSignal) => Promise<Tunnel>;

/** The tunnel server has too much to do. */
export class TunnelServerBusy extends Error {
  override name = "TunnelServerBusy";
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs: number | undefined) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
