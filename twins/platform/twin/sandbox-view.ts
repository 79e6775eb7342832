/** What a twin may see of its whole sandbox: nothing that it could change. */
import type { Journal, JournalEntry } from "../journal/journal.ts";

/** Something said in a call. */
export interface SpokenLine {
  /** Milliseconds since the Unix epoch, of the sandbox's clock: when it was over. */
  atMs: number;
  /** The twin's own id of the call. */
  callId: string;
  speaker: "user" | "assistant";
  text: string;
}

export interface SandboxView {
  /** What the code under test asked of each twin, by service name, oldest first. */
  vendorRequests(): { service: string; requests: JournalEntry[] }[];
  /** What was said in the calls of a simulation, by the service that heard it. */
  spoken(simulationId: string): { service: string; lines: SpokenLine[] }[];
}

/** What of a running twin others in its sandbox may see. */
interface ViewedTwin {
  journal: Pick<Journal, "entries">;
  running: { spoken?(simulationId: string): SpokenLine[] };
}

/** @param twins those that run; twins that start later are seen from then on. */
export function createSandboxView(twins: ReadonlyMap<string, ViewedTwin>): SandboxView {
  return {
    vendorRequests: () =>
      [...twins].map(([service, { journal }]) => ({
        service,
        requests: journal.entries().filter(({ tier }) => tier === "vendor"),
      })),
    spoken: (simulationId) =>
      [...twins].flatMap(([service, { running }]) => {
        const lines = running.spoken?.(simulationId);
        return lines ? [{ service, lines }] : [];
      }),
  };
}
