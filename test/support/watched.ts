/** Waiting for something to become true without polling: whoever changes it says so. */

const DEFAULT_TIMEOUT_MS = 10_000;

export class Watched {
  readonly #checks = new Set<() => void>();

  /** To be called after each change. */
  changed(): void {
    for (const check of [...this.#checks]) check();
  }

  /**
   * Resolves once the condition holds, at once if it does already.
   * @param what names the awaited thing in the failure
   */
  until(condition: () => boolean, what: string, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#checks.delete(check);
        reject(new Error(`waited ${timeoutMs} ms in vain for ${what}`));
      }, timeoutMs);
      this.#checks.add(check);
      check();
    });
  }
}
