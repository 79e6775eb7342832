/** Where things are in the project, whatever folder a command is run in. */
import { fileURLToPath } from "node:url";

export const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
export const SAMPLES_FOLDER = fileURLToPath(new URL("../../samples", import.meta.url));
export const SCENARIOS_FOLDER = fileURLToPath(new URL("../../samples/scenarios", import.meta.url));
/** Where datasets are kept, so that the same file is read once. Git leaves it alone. */
export const DATASETS_FOLDER = fileURLToPath(new URL("../../.offhook/datasets", import.meta.url));
