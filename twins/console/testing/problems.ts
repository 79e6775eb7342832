/** What a page does wrong while a test looks at it. */
import type { BrowserContext } from "playwright-core";

export interface Problems {
  /**
   * Says that the test brings about what the browser reports as a problem: a refused request is an error in its console.
   * A problem that is expected and does not happen is one, too.
   */
  expectProblem(pattern: RegExp): void;
  /** The problems that nobody expected, in words. */
  problems(): string[];
}

/** Watches every page of a context. @param origins that pages may reach */
export function watchForProblems(context: BrowserContext, origins: readonly string[]): Problems {
  const found: string[] = [];
  const expected: RegExp[] = [];
  const known = new Set(origins.map((origin) => new URL(origin).origin));
  const requireKnown = (what: string, address: string) => {
    const { origin, protocol } = new URL(address);
    if (protocol !== "data:" && protocol !== "blob:" && !known.has(origin)) {
      found.push(`${what} to another origin: ${address}`);
    }
  };
  context.on("weberror", (event) => void found.push(`uncaught: ${event.error().stack ?? event.error()}`));
  context.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "assert") return;
    // Violations of the content security policy are among them.
    found.push(`console.${message.type()}: ${message.text()} (${message.location().url})`);
  });
  context.on("request", (request) => requireKnown("request", request.url()));
  context.on("page", (page) => {
    page.on("crash", () => found.push("the page crashed"));
    page.on("websocket", (socket) => requireKnown("socket", socket.url()));
  });
  return {
    expectProblem: (pattern) => void expected.push(pattern),
    problems: () => [
      ...found.filter((problem) => !expected.some((pattern) => pattern.test(problem))),
      ...expected
        .filter((pattern) => !found.some((problem) => pattern.test(problem)))
        .map((pattern) => `expected, and did not happen: ${pattern}`),
    ],
  };
}
