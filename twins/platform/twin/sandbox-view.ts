/** A twin's read-only view of its sandbox. */
import type { Journal, JournalEntry } from "../journal/journal.ts";

/** Something said in a call. */
export interface SpokenLine {
  /** When the line ended: milliseconds since the Unix epoch, by the sandbox's clock. */
  atMs: number;
  /** The twin's own id of the call. */
  callId: string;
  speaker: "user" | "assistant";
  text: string;
}

export interface SandboxView {
  /** The requests of the code under test to each twin, by service name, oldest first. */
  vendorRequests(): { service: string; requests: JournalEntry[] }[];
  /** The lines spoken in the calls of a simulation, by the service that carried them. */
  spoken(simulationId: string): { service: string; lines: SpokenLine[] }[];
}

/** The part of a running twin that others in its sandbox may see. */
interface ViewedTwin {
  journal: Pick<Journal, "entries">;
  running: { spoken?(simulationId: string): SpokenLine[] };
}

/** @param twins a live map of the running twins */
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
