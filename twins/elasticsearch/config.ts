/** The `config` of the service `elasticsearch` in `environment.yaml`. */

import { DEFAULT_INDEX } from "@offhook/log-store/store/format";
import { translatorConfig } from "@offhook/log-store/translator/config";
import { z } from "zod";

export const searchConfig = z
  .strictObject({
    /** `specification`: the rules of the sandbox's specification; `vendor`: what Elasticsearch 8.15 does. */
    fidelity: z.enum(["specification", "vendor"]).default("specification"),
    /** Index of the dataset's rows that name none themselves. */
    index: z.string().min(1).max(255).default(DEFAULT_INDEX),
    ...translatorConfig,
  })
  .prefault({});

export type SearchConfig = z.output<typeof searchConfig>;
