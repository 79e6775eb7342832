/** The forms in which answers are asked for: `output_mode`. */
import { RestError, refused } from "./rest-error.ts";

export const outputModes = ["atom", "csv", "json", "json_cols", "json_rows", "raw", "xml"] as const;
export type OutputMode = (typeof outputModes)[number];

/** What collections, entries and messages can be written in. */
export const entryModes: readonly OutputMode[] = ["atom", "json", "xml"];

/** @throws RestError 400 when there is no such form, or it is none of `served` */
export function readOutputMode(
  given: string | undefined,
  served: readonly OutputMode[],
  usual: OutputMode,
): OutputMode {
  if (given === undefined || given === "") return usual;
  const mode = outputModes.find((one) => one === given);
  if (mode === undefined) throw refused(400, `Invalid output mode specified (${given}).`);
  if (served.includes(mode)) return mode;
  const text = `Output mode '${mode}' is not supported for this endpoint.`;
  throw new RestError(400, [{ type: "WARN", text }]);
}
