/** What is wrong with aggregates before it is known which fields there are. */
import { commandError } from "../spl-error.ts";
import type { AggregateCall } from "../syntax/ast.ts";
import { patternOf, stars } from "./aggregation.ts";
import { findStatsFunction } from "./functions/registry.ts";

/** Commands in which what is computed of an expression needs a name: `count(eval(x>1)) AS large`. */
const wantsNames: ReadonlySet<string> = new Set(["stats", "eventstats", "streamstats"]);

/** The reference has sparklines in `stats` and `chart`; one for each row would be of all rows before it. */
const withoutSparklines: ReadonlySet<string> = new Set(["eventstats", "streamstats"]);

/** Whether the calls can be: known functions, wildcards that fit. @throws SplError of phase `dispatch` */
export function checkAggregates(calls: readonly AggregateCall[], command: string): void {
  for (const call of calls) {
    const isOutOfPlace = call.name === "sparkline" && withoutSparklines.has(command);
    if (isOutOfPlace || findStatsFunction(call.name) === undefined) {
      throw commandError(command, `The argument '${call.text}' is invalid.`);
    }
    if (call.argument.kind === "sparkline") checkAggregates([call.argument.aggregate], "sparkline");
    if (call.argument.kind === "expression" && call.as === undefined && wantsNames.has(command)) {
      throw commandError(
        command,
        `You must specify a rename for the aggregation specifier on the dynamically evaluated field '${call.text}'.`,
      );
    }
    const pattern = patternOf(call);
    if (call.as === undefined || stars(pattern) === stars(call.as)) continue;
    throw commandError(
      command,
      `The number of wildcards between field specifier '${pattern}' and rename specifier '${call.as}' do not match. Note: empty field specifiers implies all fields, e.g. sum() == sum(*).`,
    );
  }
}
