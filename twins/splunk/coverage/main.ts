/** `npm run spl-coverage -- <folder> [--reasons]`: which searches of Splunk's public detections the log-query twin reads and runs. */

import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { onReaderGone } from "@offhook/platform/server/end-with-caller";
import { measure } from "./measure.ts";
import { readRepository } from "./repository.ts";
import { reasonsOf, tableOf } from "./table.ts";

const USAGE = `usage: npm run spl-coverage -- <folder> [--reasons]
  <folder>    a checkout of https://github.com/splunk/security_content
  --reasons   why searches do not run, too`;

onReaderGone(() => process.exit());
try {
  const given = readArguments(USAGE, { reasons: { type: "boolean", default: false } });
  if (given === undefined) console.log(USAGE);
  else await report(given);
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = 2;
}

interface Given {
  positionals: string[];
  values: { reasons: boolean };
}

async function report({ positionals: [folder, ...more], values }: Given): Promise<void> {
  if (folder === undefined || more.length > 0) throw new UsageError(`say which folder\n\n${USAGE}`);
  const repository = await readRepository(folder);
  const total = repository.detections.length;
  const outcomes = await measure(repository, (done) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${total}`);
  });
  if (process.stderr.isTTY) process.stderr.write("\r");
  console.log(tableOf(outcomes));
  const found = outcomes.filter(({ rows }) => rows > 0).length;
  const slowest = outcomes.toSorted((a, b) => b.ms - a.ms)[0];
  console.log(
    `\n${found} searches found something; the slowest took ${Math.round(slowest?.ms ?? 0)} ms (${slowest?.file})`,
  );
  if (values.reasons) console.log(`\n${reasonsOf(outcomes)}`);
}
