import { z } from "zod";
import { defineTool } from "./tool.ts";

interface Incident {
  id: string;
  service: string;
  severity: number;
  title: string;
  status: string;
  on_call: string | null;
}

export default defineTool({
  name: "open_incident",
  description: "Opens an incident for a service. Ask for the service, the severity and a title first.",
  parameters: z.object({
    service: z.string().min(1).max(100).describe("Name of the service, for example checkout"),
    severity: z.number().int().min(1).max(4).describe("1 is the worst, 4 the mildest"),
    title: z.string().trim().min(3).max(200).describe("What is wrong, in one short sentence"),
  }),
  async run({ service, severity, title }, { database, log }) {
    const [incident] = await database.query<Incident>(
      `WITH opened AS (
         INSERT INTO incidents (service, severity, title, status)
         SELECT name, $2::int, $3, 'open' FROM services WHERE name = lower($1)
         RETURNING id, service, severity, title, status
       )
       SELECT opened.*, engineers.name AS on_call
         FROM opened
         LEFT JOIN on_call ON on_call.service = opened.service
         LEFT JOIN engineers ON engineers.id = on_call.engineer_id`,
      [service.trim(), severity, title],
    );
    if (incident !== undefined) {
      log.info({ incident: incident.id }, "incident opened");
      return incident;
    }
    const known = await database.query<{ name: string }>("SELECT name FROM services ORDER BY name");
    throw new Error(`there is no service ${service}; known are ${known.map((row) => row.name).join(", ")}`);
  },
});
