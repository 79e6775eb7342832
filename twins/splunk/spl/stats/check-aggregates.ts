/** Checks of aggregates that need no fields: they run while the search is parsed. */

import { countWildcards } from "../relation/wildcards.ts";
import { commandError } from "../spl-error.ts";
import type { AggregateCall } from "../syntax/ast.ts";
import { patternOf } from "./aggregation.ts";
import { findStatsFunction } from "./functions/registry.ts";

/** Commands that require AS for an aggregate over an expression: `count(eval(x>1)) AS large`. */
const namesRequired: ReadonlySet<string> = new Set(["stats", "eventstats", "streamstats"]);

/** The reference has sparklines in `stats` and `chart` only. */
const sparklinesRefused: ReadonlySet<string> = new Set(["eventstats", "streamstats"]);

/** Checks that functions exist and wildcards agree. @throws SplError of phase `dispatch` */
export function checkAggregates(calls: readonly AggregateCall[], command: string): void {
  for (const call of calls) {
    const isOutOfPlace = call.name === "sparkline" && sparklinesRefused.has(command);
    if (isOutOfPlace || findStatsFunction(call.name) === undefined) {
      throw commandError(command, `The argument '${call.text}' is invalid.`);
    }
    if (call.argument.kind === "sparkline") checkAggregates([call.argument.aggregate], "sparkline");
    if (call.argument.kind === "expression" && call.as === undefined && namesRequired.has(command)) {
      throw commandError(
        command,
        `You must specify a rename for the aggregation specifier on the dynamically evaluated field '${call.text}'.`,
      );
    }
    const pattern = patternOf(call);
    if (call.as === undefined || countWildcards(pattern) === countWildcards(call.as)) continue;
    throw commandError(
      command,
      `The number of wildcards between field specifier '${pattern}' and rename specifier '${call.as}' do not match. Note: empty field specifiers implies all fields, e.g. sum() == sum(*).`,
    );
  }
}
