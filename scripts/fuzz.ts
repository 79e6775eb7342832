/** `npm run fuzz`: requests that nobody means to send, to every twin, control plane and the agent. */

import { readArguments, readPositiveInteger, UsageError } from "@offhook/platform/server/command-line";
import { onReaderGone } from "@offhook/platform/server/end-with-caller";
import { messageOf } from "../agent/log.ts";
import { type FuzzReport, fuzz } from "./fuzz/run.ts";

const MAX_PRINTED_CHARS = 3_000;
const SLOW_MS = 5_000;
const usage = `usage: npm run fuzz -- [--requests N] [--seconds N] [--seed N] [--only NAME …] [--json]
  --requests N  ends after so many requests, as many to each part (default: no end but the time's)
  --seconds N   ends after so long (default 100)
  --seed N      the same seed sends the same requests; printed when none is given
  --only NAME   only the part of this name: elasticsearch, splunk, vapi, engine, sandboxes, agent; or those whose names
                begin with it: queries (in ES|QL, Query DSL, SPL), control (of a twin), bytes (to a server)
  --json        the report as one JSON object`;

function print({ seed, targets, processes, findings }: FuzzReport): void {
  console.log(`seed ${seed}`);
  for (const { name, requests, statuses, slowestMs } of targets) {
    const answers = Object.entries(statuses).map(([status, count]) => `${status} ${count}`);
    console.log(
      `${name.padEnd(24)} ${String(requests).padStart(8)}  slowest ${Math.round(slowestMs)} ms  ${answers.join("  ")}`,
    );
  }
  for (const { name, before, after } of processes) {
    const change = (unit: string, from = 0, to = 0) => `${unit} ${from} → ${to}`;
    const figures = [
      change("MB", before.residentMb, after.residentMb),
      `at most ${after.peakMb ?? 0} MB`,
      change("sockets", before.sockets, after.sockets),
      change("other descriptors", before.others, after.others),
    ];
    console.log(`${name.padEnd(24)} ${figures.join("  ")}`);
  }
  for (const { target, verdict, reproduction, seed: round } of findings) {
    console.log(`\n${target}: ${verdict}\n  round ${round}\n  ${cut(reproduction)}`);
  }
  const total = targets.reduce((sum, { requests }) => sum + requests, 0);
  console.log(`\n${total} requests, ${findings.length} findings`);
}

/** `--json` has all of it. */
function cut(text: string): string {
  return text.length > MAX_PRINTED_CHARS ? `${text.slice(0, MAX_PRINTED_CHARS)}…` : text;
}

async function main(): Promise<number> {
  const given = readArguments(usage, {
    requests: { type: "string" },
    seconds: { type: "string" },
    seed: { type: "string" },
    only: { type: "string", multiple: true, default: [] },
    json: { type: "boolean", default: false },
  });
  if (!given) {
    console.log(usage);
    return 0;
  }
  const { values, positionals } = given;
  if (positionals.length > 0) throw new UsageError(`${positionals[0]} is no option\n\n${usage}`);
  const report = await fuzz({
    seed: readPositiveInteger("seed", values.seed, Math.floor(Math.random() * 2 ** 30) + 1, usage),
    requests: readPositiveInteger("requests", values.requests, Number.MAX_SAFE_INTEGER, usage),
    limitMs: readPositiveInteger("seconds", values.seconds, 100, usage) * 1000,
    slowMs: SLOW_MS,
    only: values.only,
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  if (values.json) console.log(JSON.stringify(report));
  else print(report);
  return report.findings.length === 0 ? 0 : 1;
}

onReaderGone(() => process.exit());
try {
  process.exitCode = await main();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 2;
}
