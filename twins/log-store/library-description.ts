/** A dataset's description as the library keeps it. */

import type { DatasetDescription } from "@offhook/platform/twin/dataset";
import { z } from "zod";

const column = z.object({
  name: z.string(),
  type: z.string(),
  multi: z.boolean(),
  note: z.string().exactOptional(),
});

export const descriptionSchema: z.ZodType<DatasetDescription> = z.object({
  file_name: z.string().nullable(),
  format: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  created_at: z.string(),
  rows: z.number(),
  columns: z.array(column),
  time_field: z.string().nullable(),
  time_range: z.object({ from: z.string(), to: z.string() }).nullable(),
  sample: z.array(z.string()),
});
