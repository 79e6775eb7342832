/** Output modes of responses: `output_mode`. */
import { handlerError, RestError } from "./rest-error.ts";

export const outputModes = ["atom", "csv", "json", "json_cols", "json_rows", "raw", "xml"] as const;
export type OutputMode = (typeof outputModes)[number];

/** Output modes of collections, entries and messages. */
export const entryModes: readonly OutputMode[] = ["atom", "json", "xml"];

/** Reads the output mode. @throws RestError 400 for an unknown mode, or one that is not `served` */
export function readOutputMode(
  given: string | undefined,
  served: readonly OutputMode[],
  fallback: OutputMode,
): OutputMode {
  if (given === undefined || given === "") return fallback;
  const mode = outputModes.find((one) => one === given);
  if (mode === undefined) throw handlerError(400, `Invalid output mode specified (${given}).`);
  if (served.includes(mode)) return mode;
  const text = `Output mode '${mode}' is not supported for this endpoint.`;
  throw new RestError(400, [{ type: "WARN", text }]);
}
