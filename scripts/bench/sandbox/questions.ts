/** What the program under measurement is asked by `bench sandbox`. */
export interface SandboxQuestions {
  /** Twins on a free port: their address and key, and a bare express handler beside them in the same process. */
  start: {
    ask: { environmentFile: string };
    answer: { baseUrl: string; apiKey: string; expressUrl: string };
  };
  /** Time of one record in a journal, request and answer. */
  journal: { ask: { requests: number }; answer: { microsPerRequest: number } };
  /** The same statement straight to the server and through the proxy that reads it. */
  statements: { ask: { statements: number }; answer: { directMicros: number; proxyMicros: number } };
  /** Scenarios in this process, each with a sandbox, an agent and a caller of its own; their calls begin within `spreadMs`. */
  scenarios: { ask: { sandboxes: number; speed: number; spreadMs: number }; answer: SideBySide };
}

interface SideBySide {
  passed: number;
  failures: string[];
  /** From the first sandbox asked for to the last that answers. */
  openedMs: number;
  wallMs: number;
  /** Calls that were under way at the same time, at most. */
  mostAtOnce: number;
  cpuMs: number;
  rssBytes: number;
}
