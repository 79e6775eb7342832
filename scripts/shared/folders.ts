/** Folders of the project, independent of the working directory. */
import { fileURLToPath } from "node:url";

export const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
export const SAMPLES_FOLDER = fileURLToPath(new URL("../../samples", import.meta.url));
export const SCENARIOS_FOLDER = fileURLToPath(new URL("../../samples/scenarios", import.meta.url));
/** Cache of imported datasets; ignored by Git. */
export const DATASETS_FOLDER = fileURLToPath(new URL("../../.offhook/datasets", import.meta.url));
