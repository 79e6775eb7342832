/**
 * The address at which the voice runtime reaches this agent. In this order: `PUBLIC_BASE_URL`; the agent's own address if
 * the runtime runs on this machine (a twin); a tunnel, opened on the first call and shared by all, of all workers too.
 */
import type { Logger } from "pino";
import { type Config, isLoopback } from "./config.ts";
import { pause } from "./deadline.ts";
import { messageOf, safeText } from "./log.ts";
import { localtunnelOpener } from "./tunnel/localtunnel.ts";
import { loadNgrok, ngrokOpener } from "./tunnel/ngrok.ts";
import { type OpenTunnel, type Tunnel, TunnelServerBusy } from "./tunnel/tunnel.ts";

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;
/** Maximum `Retry-After` that a call in set-up waits for. */
const MAX_PATIENCE_MS = 5_000;
/** Back-off from a busy server that sends no `Retry-After`. */
const DEFAULT_REST_MS = 30_000;
const MAX_REST_MS = 600_000;
/** A tunnel that lives shorter than this counts as failed. */
const SHORT_LIFE_MS = 60_000;
/** Maximum consecutive short-lived tunnels that are reopened unasked. */
const MAX_SHORT_LIVES = 8;

export interface PublicUrl {
  /**
   * The base address, without a slash at the end.
   * @param signal gives up waiting; the tunnel, which is for all calls, is opened nevertheless
   * @throws Error saying why there is no address
   */
  get(signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

export interface PublicUrlParts {
  log: Logger;
  /** Where the agent listens, once it does. */
  ownUrl(): string;
  /** Starts the server for the tunnel, which has only `/tool`. @returns its address */
  openToolServer(): Promise<string>;
  /** In a worker: the address of the tunnel that the primary process opens and all workers share. */
  sharedTunnel?(): Promise<string>;
}

/**
 * Decides where the public address comes from.
 * @throws when ngrok is asked for and its package is not installed
 */
export async function publicUrlFor(config: Config, parts: PublicUrlParts): Promise<PublicUrl> {
  const { log } = parts;
  const { publicBaseUrl, ngrokAuthtoken } = config;
  if (publicBaseUrl !== undefined) {
    if (config.voiceToken === undefined && parts.sharedTunnel === undefined) {
      log.warn("whoever learns the public address can place calls on /voice: set VOICE_TOKEN");
    }
    return fixedUrl(() => publicBaseUrl);
  }
  if (isLoopback(config.voiceApiUrl)) return fixedUrl(parts.ownUrl);
  const { sharedTunnel } = parts;
  if (sharedTunnel !== undefined) {
    await parts.openToolServer();
    return { get: (signal) => unlessAborted(sharedTunnel(), signal), close: async () => {} };
  }
  const ngrok = ngrokAuthtoken === undefined ? undefined : await loadNgrok();
  const localUrl = await parts.openToolServer();
  const open =
    ngrok === undefined || ngrokAuthtoken === undefined
      ? localtunnelOpener(config.localtunnelHost, localUrl)
      : ngrokOpener(ngrok, ngrokAuthtoken, localUrl);
  const secrets = ngrokAuthtoken === undefined ? [] : [ngrokAuthtoken];
  return new TunnelUrl(open, { log, secrets, attempts: ATTEMPTS, firstPauseMs: FIRST_PAUSE_MS });
}

function fixedUrl(url: () => string): PublicUrl {
  return { get: async () => url(), close: async () => {} };
}

export interface TunnelUrlOptions {
  log: Logger;
  /** Texts to mask in every message. */
  secrets: readonly string[];
  attempts: number;
  /** Pause after the first failed attempt; each further one is twice as long. */
  firstPauseMs: number;
}

/** One tunnel for all calls: opened when the first asks, reopened when it dies. */
export class TunnelUrl implements PublicUrl {
  readonly #open: OpenTunnel;
  readonly #options: TunnelUrlOptions;
  readonly #closing = new AbortController();
  #opening: Promise<Tunnel> | undefined;
  /** The current back-off; `until` in milliseconds of the monotonic clock. */
  #backOffState: { reason: string; until: number } | undefined;
  #shortLives = 0;

  constructor(open: OpenTunnel, options: TunnelUrlOptions) {
    this.#open = open;
    this.#options = options;
  }

  async get(signal: AbortSignal): Promise<string> {
    const tunnel = await unlessAborted(this.#shared(), signal);
    return tunnel.url;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const tunnel = await this.#opening?.catch(() => undefined);
    await tunnel?.close();
  }

  /** The open tunnel, the one being opened, or a new one. */
  #shared(): Promise<Tunnel> {
    if (this.#opening === undefined) this.#share(this.#openWithRetries());
    return this.#opening ?? Promise.reject(new Error("the tunnel is closed"));
  }

  #share(opening: Promise<Tunnel>): void {
    this.#opening = opening;
    const forget = () => {
      if (this.#opening === opening) this.#opening = undefined;
    };
    opening.then((tunnel) => {
      const openedAt = performance.now();
      tunnel.died.then((reason) => {
        forget();
        this.#shortLives = performance.now() - openedAt < SHORT_LIFE_MS ? this.#shortLives + 1 : 0;
        this.#reopen(reason);
      });
    }, forget);
  }

  /** Running calls have the tunnel's address, so a new one is opened, under the same name if it can be had. */
  #reopen(died: string): void {
    const { log, firstPauseMs } = this.#options;
    const reason = this.#safe(died);
    if (this.#closing.signal.aborted) return;
    if (this.#shortLives > MAX_SHORT_LIVES) {
      log.error({ reason }, "the tunnel keeps dying; it is opened again for the next call");
      return;
    }
    log.warn({ reason }, "the tunnel died; it is opened again");
    const pauseMs = this.#shortLives <= 1 ? 0 : firstPauseMs * 2 ** (this.#shortLives - 2);
    this.#share(pause(pauseMs, this.#closing.signal).then(() => this.#openWithRetries()));
    this.#opening?.catch((error) => {
      log.error({ reason: this.#safe(messageOf(error)) }, "the tunnel cannot be opened again");
    });
  }

  async #openWithRetries(): Promise<Tunnel> {
    const { attempts, firstPauseMs, log } = this.#options;
    this.#throwWhileBackingOff();
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#closing.signal.throwIfAborted();
        const tunnel = await this.#open(this.#closing.signal);
        log.info({ url: tunnel.url }, "tunnel open");
        return tunnel;
      } catch (error) {
        const reason = this.#safe(messageOf(error));
        const askedMs = (error instanceof TunnelServerBusy && error.retryAfterMs) || 0;
        if (attempt >= attempts || askedMs > MAX_PATIENCE_MS || this.#closing.signal.aborted) {
          if (error instanceof TunnelServerBusy) this.#backOff(error.retryAfterMs, reason);
          throw new Error(
            `no tunnel after ${attempt} attempts: ${reason}; set PUBLIC_BASE_URL to do without`,
          );
        }
        log.warn({ attempt, reason }, "the tunnel could not be opened; trying again");
        await pause(Math.max(askedMs, firstPauseMs * 2 ** (attempt - 1)), this.#closing.signal);
      }
    }
  }

  /** Starts a back-off, so that calls do not keep asking a busy server. */
  #backOff(durationMs: number | undefined, reason: string): void {
    const restMs = Math.min(durationMs ?? DEFAULT_REST_MS, MAX_REST_MS);
    this.#backOffState = { reason, until: performance.now() + restMs };
  }

  #throwWhileBackingOff(): void {
    const restMs = (this.#backOffState?.until ?? 0) - performance.now();
    if (this.#backOffState === undefined || restMs <= 0) return;
    throw new Error(
      `no tunnel: ${this.#backOffState.reason}; it is asked again in ${Math.ceil(restMs / 1000)} s; set PUBLIC_BASE_URL to do without`,
    );
  }

  #safe(text: string): string {
    return safeText(text, this.#options.secrets);
  }
}

/** @throws the signal's reason when it is aborted first */
async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  let stopListening = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    stopListening = () => signal.removeEventListener("abort", abort);
  });
  return Promise.race([promise, aborted]).finally(stopListening);
}
