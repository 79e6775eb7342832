/** `npm run bench -- [name] [--quick] [--json]`: measures, beside a floor of a few lines doing the same work. */
import { parseArgs } from "node:util";
import { messageOf } from "../agent/log.ts";
import { benchCalls } from "./bench/calls.ts";
import { benchLogQuery } from "./bench/log-query.ts";
import { type Bench, tableOf } from "./bench/report.ts";
import { benchSandbox } from "./bench/sandbox.ts";
import { benchSearch } from "./bench/search.ts";

const benches: Record<string, Bench> = {
  calls: benchCalls,
  sandbox: benchSandbox,
  search: benchSearch,
  "log-query": benchLogQuery,
};

const usage = `usage: npm run bench -- [${Object.keys(benches).join("|")}] [--quick] [--json]
  --quick   a minute at most, coarser
  --json    one JSON object on stdout instead of the table`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
  });
  const [name = "calls", ...more] = positionals;
  const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
  if (!bench || more.length > 0) {
    console.error(
      `There is no bench ${positionals.join(" ")}; there are: ${Object.keys(benches).join(", ")}\n${usage}`,
    );
    return 2;
  }
  const report = await bench({
    size: values.quick ? "quick" : "full",
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  console.log(values.json ? JSON.stringify(report) : tableOf(report));
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}
