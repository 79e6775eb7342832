/** The `config` of the service `elasticsearch` in `environment.yaml`. */
import { z } from "zod";
import { DEFAULT_INDEX } from "../datasets/store/format.ts";
import { translatorConfig } from "../datasets/translator/config.ts";

export const searchConfig = z
  .strictObject({
    /** `specification`: the rules of the sandbox's specification; `vendor`: what Elasticsearch 8.15 does. */
    fidelity: z.enum(["specification", "vendor"]).default("specification"),
    /** The index that a dataset's rows are in, unless they name one themselves. */
    index: z.string().min(1).max(255).default(DEFAULT_INDEX),
    ...translatorConfig,
  })
  .prefault({});

export type SearchConfig = z.output<typeof searchConfig>;
