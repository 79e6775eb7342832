import { z } from "zod";
import { defineTool } from "./tool.ts";

interface Incident {
  id: string;
  service: string;
  severity: number;
  title: string;
  status: string;
  opened_at: Date;
}

export default defineTool({
  name: "incident_status",
  description: "Tells how an incident is going.",
  parameters: z.object({
    id: z.string().min(1).max(40).describe("The incident's id, INC- and a number, for example INC-1041"),
  }),
  async run({ id }, { database }) {
    // People say only the number.
    const spoken = id.trim().toUpperCase();
    const wanted = /^\d+$/.test(spoken) ? `INC-${spoken}` : spoken;
    const [incident] = await database.query<Incident>(
      "SELECT id, service, severity, title, status, opened_at FROM incidents WHERE id = $1",
      [wanted],
    );
    if (incident !== undefined) return incident;
    const latest = await database.query<{ id: string }>(
      "SELECT id FROM incidents ORDER BY opened_at DESC, id DESC LIMIT 5",
    );
    throw new Error(
      `there is no incident ${wanted}; the latest are ${latest.map((row) => row.id).join(", ") || "none"}`,
    );
  },
});
