/** A twin with one table of as many rows as it is told, and one operation that answers one of them. */

import { ownRefusal } from "@offhook/platform/http/errors";
import { operation } from "@offhook/platform/http/operation";
import { defineTwin, type RunningTwin } from "@offhook/platform/twin/twin";
import { createReset } from "@offhook/platform/world/baseline";
import { createMemoryWorld } from "@offhook/platform/world/memory-world";
import { defineTable } from "@offhook/platform/world/table";
import { z } from "zod";

/** What both sides of the comparison answer. */
export const answerBody = { id: 1, name: "row 1", note: "a row as a twin holds many", open: true };

const world = () =>
  createMemoryWorld({
    rows: defineTable({
      description: "Rows of the measurement.",
      key: "id",
      columns: {
        id: { type: z.int(), description: "Its number." },
        name: { type: z.string(), description: "Its name." },
        note: { type: z.string(), description: "A text." },
        open: { type: z.boolean(), description: "A mark." },
      },
      limit: { rows: 2_000_000, bytes: 1024 ** 3 },
    }),
  });

type RowsTwin = RunningTwin & { world: ReturnType<typeof world> };

export default defineTwin({
  name: "rows",
  vendor: "measurement",
  versions: ["1"],
  config: z.strictObject({ rows: z.int().min(1).default(10) }),
  operations: [
    operation<RowsTwin>({
      id: "row.get",
      method: "GET",
      path: "/rows/:id",
      surface: "rest",
      summary: "One row.",
      handle: ({ params }, twin) => ({
        status: 200,
        body: twin.world.table("rows").get(Number(params.id)) ?? null,
      }),
    }),
  ],
  refusal: ownRefusal,
  async start(_context, { rows }): Promise<RowsTwin> {
    const filled = world();
    await filled.load({
      rows: Array.from({ length: rows }, (_, n) => ({ ...answerBody, id: n + 1, name: `row ${n + 1}` })),
    });
    return { world: filled, reset: await createReset(filled), stop: async () => undefined };
  },
  clientEnvironment: (url) => ({ ROWS_URL: url }),
});
