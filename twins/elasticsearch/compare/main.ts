/** `npm run compare -- --real URL`: the same generated requests to the search twin and to a real Elasticsearch. */

import { reasonOf } from "@offhook/platform/base/reason";
import { readArguments, readPositiveInteger, UsageError } from "@offhook/platform/server/command-line";
import { onReaderGone } from "@offhook/platform/server/end-with-caller";
import { type CompareReport, compare } from "./run.ts";

const MAX_PRINTED_CHARS = 2_000;
const usage = `usage: npm run compare -- --real URL [--requests N] [--seed N] [--only NAME …] [--findings N] [--json]
  --real URL    address of an Elasticsearch 8.15 without credentials; its indices compare-… are deleted afterwards
  --requests N  ends after so many requests (default 2000)
  --seed N      the same seed sends the same requests; printed when none is given
  --only NAME   only requests with this in their name: queries, urls, aggregations, pages, highlights,
                counts, wrong
  --findings N  shrinks and prints so many, counts the rest (default 40)
  --json        the report as one JSON object`;

function print({ seed, subjects, explanations, findings }: CompareReport): void {
  for (const { subject, seed: own, reproduction, differences } of findings) {
    console.log(`\n${subject}, --seed ${own} --only ${subject} --requests 1\n  ${cut(reproduction)}`);
    for (const { path, real, twin } of differences.slice(0, 3)) {
      console.log(`  ${path}\n    real ${cut(shown(real))}\n    twin ${cut(shown(twin))}`);
    }
    if (differences.length > 3) console.log(`  and ${differences.length - 3} more`);
  }
  console.log(`\nseed ${seed}`);
  for (const { name, requests, same, explained, unexplained } of subjects) {
    console.log(
      `${name.padEnd(14)} ${String(requests).padStart(7)} requests  same ${same}  explained ${explained}  unexplained ${unexplained}`,
    );
  }
  for (const [reason, count] of Object.entries(explanations))
    console.log(`${String(count).padStart(7)}  ${reason}`);
  console.log(`\n${unexplainedOf(subjects)} unexplained differences`);
}

function unexplainedOf(subjects: CompareReport["subjects"]): number {
  return subjects.reduce((sum, { unexplained }) => sum + unexplained, 0);
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}

/** `--json` has all of it. */
function cut(text: string): string {
  return text.length > MAX_PRINTED_CHARS ? `${text.slice(0, MAX_PRINTED_CHARS)}…` : text;
}

async function main(): Promise<number> {
  const given = readArguments(usage, {
    real: { type: "string" },
    requests: { type: "string" },
    seed: { type: "string" },
    only: { type: "string", multiple: true, default: [] },
    findings: { type: "string" },
    json: { type: "boolean", default: false },
  });
  if (!given) {
    console.log(usage);
    return 0;
  }
  const { values, positionals } = given;
  if (positionals.length > 0) throw new UsageError(`${positionals[0]} is no option\n\n${usage}`);
  if (values.real === undefined || !URL.canParse(values.real)) {
    throw new UsageError(
      `--real takes the address of a real Elasticsearch, such as http://127.0.0.1:9200\n${usage}`,
    );
  }
  const report = await compare({
    real: values.real,
    seed: readPositiveInteger("seed", values.seed, Math.floor(Math.random() * 2 ** 30) + 1, usage),
    requests: readPositiveInteger("requests", values.requests, 2_000, usage),
    only: values.only,
    maxFindings: readPositiveInteger("findings", values.findings, 40, usage),
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  if (values.json) console.log(JSON.stringify(report));
  else print(report);
  return unexplainedOf(report.subjects) === 0 ? 0 : 1;
}

onReaderGone(() => process.exit());
try {
  process.exitCode = await main();
} catch (error) {
  console.error(reasonOf(error));
  process.exitCode = 2;
}
