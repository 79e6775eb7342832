/**
 * The clear text of the secrets that the API shows to authorized users: collector tokens and the passwords of apps. Rows and snapshots
 * have digests only; this process alone can reveal them, also after a snapshot is loaded.
 */
import { sha256 } from "./seed.ts";

const MAX_SECRETS = 20_000;

export class SecretVault {
  /** By digest, the oldest first. */
  readonly #texts = new Map<string, string>();

  constructor(known: readonly string[] = []) {
    for (const text of known) this.remember(text);
  }

  /** Remembers a secret. @returns its digest: SHA-256, in hexadecimal */
  remember(text: string): string {
    const digest = sha256(text);
    this.#texts.delete(digest);
    this.#texts.set(digest, text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > MAX_SECRETS && oldest !== undefined) this.#texts.delete(oldest);
    return digest;
  }

  /** The clear text of a digest; `undefined` when this process has never seen it. */
  reveal(digest: string): string | undefined {
    return this.#texts.get(digest);
  }
}
