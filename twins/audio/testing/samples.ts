/** Recordings that tests hear and say, with their words; they stay as they are whatever a project records. */
import { fileURLToPath } from "node:url";

/** Folder of the recordings and their manifest. */
export const SAMPLES_FOLDER = fileURLToPath(new URL("./samples", import.meta.url));
