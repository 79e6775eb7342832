/**
 * The clear text of secrets that the API hands out to who may see them: tokens of the event collector, passwords that are kept for apps.
 * The world has their digests alone, so that no snapshot carries one; only this process can turn a digest back, and loading a
 * snapshot into the running twin loses none.
 */
import { sha256 } from "./seed.ts";

const MAX_SECRETS = 20_000;

export class SecretVault {
  /** By digest, longest unused first. */
  readonly #texts = new Map<string, string>();

  constructor(known: readonly string[] = []) {
    for (const text of known) this.keep(text);
  }

  /** Remembers a secret. @returns its digest: SHA-256, in hexadecimal */
  keep(text: string): string {
    const digest = sha256(text);
    this.#texts.delete(digest);
    this.#texts.set(digest, text);
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > MAX_SECRETS && oldest !== undefined) this.#texts.delete(oldest);
    return digest;
  }

  /** `undefined`: this process has never seen it. */
  of(digest: string): string | undefined {
    return this.#texts.get(digest);
  }
}
