/** Where things are in the project, whatever folder a command is run in. */
import { fileURLToPath } from "node:url";

export const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
export const SAMPLES_FOLDER = fileURLToPath(new URL("../../samples", import.meta.url));
export const SCENARIOS_FOLDER = fileURLToPath(new URL("../../samples/scenarios", import.meta.url));
