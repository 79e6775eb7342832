/** Where the project keeps what callers say. */
import { fileURLToPath } from "node:url";

export const SAMPLES_FOLDER = fileURLToPath(new URL("../../samples", import.meta.url));
export const SCENARIOS_FOLDER = fileURLToPath(new URL("../../samples/scenarios", import.meta.url));
