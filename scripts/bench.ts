/** `npm run bench -- [name] [--quick] [--json] [--check]`: measures, beside a floor of a few lines doing the same work. */

import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { onReaderGone } from "@offhook/platform/server/end-with-caller";
import { tableOf } from "@offhook/platform/testing/bench/report";
import { messageOf } from "../agent/log.ts";
import { checkFloors, readFloors, sentenceOf } from "./bench/check.ts";
import { findBenches } from "./bench/find.ts";

const benches = await findBenches();

const usage = `usage: npm run bench -- [${[...benches.keys()].join("|")}] [--quick] [--json] [--check]
  --quick   about a minute, coarser
  --json    one JSON object on stdout instead of the table
  --check   fails when a figure is further from its floor than scripts/bench/floors.json says; those are of full runs`;

async function main(): Promise<number> {
  const given = readArguments(usage, {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  });
  if (given === undefined) {
    console.log(usage);
    return 0;
  }
  const { values, positionals } = given;
  const [name = "calls", ...more] = positionals;
  const load = benches.get(name);
  if (!load || more.length > 0) {
    throw new UsageError(
      `there is no bench ${positionals.join(" ")}; there are: ${[...benches.keys()].join(", ")}\n\n${usage}`,
    );
  }
  const bench = await load();
  const report = await bench({
    size: values.quick ? "quick" : "full",
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  console.log(values.json ? JSON.stringify(report) : tableOf(report));
  if (!values.check) return 0;
  const verdicts = checkFloors(report, readFloors());
  process.stderr.write(verdicts.map((verdict) => `${sentenceOf(verdict)}\n`).join(""));
  return verdicts.every(({ holds }) => holds) ? 0 : 1;
}

onReaderGone(() => process.exit());
try {
  process.exitCode = await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
