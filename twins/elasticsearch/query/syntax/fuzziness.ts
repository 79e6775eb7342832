/** `fuzziness`: the allowed edit distance. Source: `Fuzziness` of 8.15 */
import { javaNumber, numberFormatReason } from "../../json/java-number.ts";
import { isScalarJson } from "../../json/token.ts";
import { illegalArgument, VendorError } from "../../vendor/error.ts";
import type { OptionReader } from "./options.ts";

/** `0`, `1`, `2`, `AUTO`, `AUTO:3,6` */
export const fuzziness: OptionReader<string> = ({ json, token }) => {
  if (!isScalarJson(json) || typeof json === "boolean") {
    throw illegalArgument(`Can't parse fuzziness on token: [${token}]`);
  }
  if (typeof json !== "string") return edits(Math.trunc(Number(json)));
  if (json === "") throw illegalArgument("fuzziness cannot be null or empty.");
  const written = json.toUpperCase();
  if (written === "AUTO") return written;
  if (written.startsWith("AUTO:")) return custom(written);
  const number = javaNumber(written);
  if (number === undefined) {
    throw illegalArgument(`fuzziness cannot be [${json}].`, {
      type: "number_format_exception",
      reason: numberFormatReason(written),
    });
  }
  if (Math.abs(number % 1) > 0) {
    throw illegalArgument(`fuzziness needs to be one of 0.0, 1.0 or 2.0 but was ${number}`);
  }
  return edits(number);
};

function edits(number: number): string {
  if (number >= 0 && number <= 2) return String(number);
  throw illegalArgument(`Valid edit distances are [0, 1, 2] but was [${number}]`);
}

/** `AUTO:low,high`: words shorter than `low` allow no edits, those from `high` on two. */
function custom(written: string): string {
  const bounds = written.slice("AUTO:".length).split(",");
  if (bounds.length !== 2) throw parseError("failed to find low and high distance values");
  const wrong = bounds.find((bound) => !/^[+-]?\d{1,9}$/.test(bound));
  if (wrong !== undefined) {
    throw parseError(`failed to parse [${written}] as a "auto:int,int"`, {
      type: "number_format_exception",
      reason: `For input string: "${wrong}"`,
    });
  }
  const [low = 0, high = 0] = bounds.map(Number);
  if (low < 0 || high < 0 || low > high) {
    throw parseError(`fuzziness wrongly configured [${written}]. Must be 0 < lower value <= higher value.`);
  }
  return `AUTO:${low},${high}`;
}

function parseError(reason: string, causedBy?: { type: string; reason: string }): VendorError {
  return new VendorError(400, { type: "parse_exception", reason, ...(causedBy && { caused_by: causedBy }) });
}
