/** Waits for a condition without polling, like a condition variable: code that changes the state calls `changed`. */

/** Below the test's own timeout, so that the failure names the awaited condition. */
const TIMEOUT_MS = 120_000;

export class Watched {
  readonly #checks = new Set<() => void>();

  /** Rechecks all conditions; call it after each change. */
  changed(): void {
    for (const check of [...this.#checks]) check();
  }

  /**
   * Resolves once the condition holds, at once if it does already.
   * @param what names the awaited thing in the failure
   */
  until(condition: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#checks.delete(check);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#checks.delete(check);
        reject(new Error(`waited ${TIMEOUT_MS} ms in vain for ${what}`));
      }, TIMEOUT_MS);
      this.#checks.add(check);
      check();
    });
  }
}
