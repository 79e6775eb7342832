import { z } from "zod";
import { defineTool } from "./tool.ts";

interface OnCall {
  service: string;
  engineer: string;
  phone: string;
  since: Date;
}

export default defineTool({
  name: "who_is_on_call",
  description: "Tells which engineer is on call for a service right now, with the phone number.",
  parameters: z.object({
    service: z.string().min(1).max(100).describe("Name of the service, for example checkout"),
  }),
  async run({ service }, { database }) {
    const [onCall] = await database.query<OnCall>(
      `SELECT on_call.service, engineers.name AS engineer, engineers.phone, on_call.since
         FROM on_call JOIN engineers ON engineers.id = on_call.engineer_id
        WHERE on_call.service = lower($1)`,
      [service.trim()],
    );
    if (onCall !== undefined) return onCall;
    const known = await database.query<{ service: string }>("SELECT service FROM on_call ORDER BY service");
    throw new Error(
      `nobody is on call for ${service}; there is somebody for ${known.map((row) => row.service).join(", ") || "no service"}`,
    );
  },
});
