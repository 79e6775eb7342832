/**
 * The address at which the voice runtime reaches this agent. In this order: `PUBLIC_BASE_URL`; the agent's own address
 * when the runtime is on this machine (a twin), since it needs no way in from outside; a tunnel, opened on the first
 * call and shared by all.
 */
import type { Logger } from "pino";
import { type Config, isLoopback } from "./config.ts";
import { messageOf, safeText } from "./log.ts";
import { localtunnelOpener } from "./tunnel/localtunnel.ts";
import { loadNgrok, ngrokOpener } from "./tunnel/ngrok.ts";
import type { OpenTunnel, Tunnel } from "./tunnel/tunnel.ts";

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;

export interface PublicUrl {
  /**
   * The base address, without a slash at the end.
   * @param signal gives up waiting; a tunnel being opened is for all calls and goes on
   * @throws Error saying why there is no address
   */
  get(signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/**
 * Decides where the public address comes from.
 * @param ownUrl where the agent listens
 * @throws when ngrok is asked for and its package is not installed
 */
export async function publicUrlFor(config: Config, ownUrl: string, log: Logger): Promise<PublicUrl> {
  if (config.publicBaseUrl === undefined && isLoopback(config.voiceApiUrl)) return fixedUrl(ownUrl);
  if (config.voiceToken === undefined) {
    log.warn("whoever learns the public address can place calls on /voice: set VOICE_TOKEN");
  }
  if (config.publicBaseUrl !== undefined) return fixedUrl(config.publicBaseUrl);
  const secrets = config.ngrokAuthtoken === undefined ? [] : [config.ngrokAuthtoken];
  const open =
    config.ngrokAuthtoken === undefined
      ? localtunnelOpener(config.localtunnelHost, ownUrl)
      : ngrokOpener(await loadNgrok(), config.ngrokAuthtoken, ownUrl);
  return new TunnelUrl(open, { log, secrets, attempts: ATTEMPTS, firstPauseMs: FIRST_PAUSE_MS });
}

function fixedUrl(url: string): PublicUrl {
  return { get: async () => url, close: async () => {} };
}

export interface TunnelUrlOptions {
  log: Logger;
  /** What must not be in any message. */
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
    if (this.#opening !== undefined) return this.#opening;
    const opening = this.#openPatiently();
    this.#opening = opening;
    const forget = () => {
      if (this.#opening === opening) this.#opening = undefined;
    };
    opening.then((tunnel) => {
      tunnel.died.then((reason) => {
        forget();
        this.#reopen(reason);
      });
    }, forget);
    return opening;
  }

  /** Running calls have the tunnel's address, so a new one is opened at once, under the same name if it can be had. */
  #reopen(reason: string): void {
    if (this.#closing.signal.aborted) return;
    this.#options.log.warn({ reason: this.#safe(reason) }, "the tunnel died; it is opened again");
    this.#shared().catch((error) => {
      this.#options.log.error({ reason: this.#safe(messageOf(error)) }, "the tunnel cannot be opened again");
    });
  }

  async #openPatiently(): Promise<Tunnel> {
    const { attempts, firstPauseMs, log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#closing.signal.throwIfAborted();
        const tunnel = await this.#open();
        log.info({ url: tunnel.url }, "tunnel open");
        return tunnel;
      } catch (error) {
        const reason = this.#safe(messageOf(error));
        if (attempt >= attempts || this.#closing.signal.aborted) {
          throw new Error(
            `no tunnel after ${attempt} attempts: ${reason}; set PUBLIC_BASE_URL to do without`,
          );
        }
        log.warn({ attempt, reason }, "the tunnel could not be opened; trying again");
        await pause(firstPauseMs * 2 ** (attempt - 1), this.#closing.signal);
      }
    }
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

/** Resolves after the time, or when the signal is aborted. */
function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, durationMs);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}
