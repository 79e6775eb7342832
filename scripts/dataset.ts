/** `npm run dataset`: uploads, shows and deletes the log events of a service of the running twins. See `USAGE`. */
import { createReadStream, existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { UsageError } from "@offhook/platform/server/command-line";
import { onReaderGone } from "@offhook/platform/server/end-with-caller";
import {
  type Answer,
  ask,
  type DatasetAnswer,
  type Refusal,
  RequestFailed,
  type ResetSandbox,
} from "./dataset/ask.ts";
import { type Command, type DatasetOptions, readOptions, USAGE } from "./dataset/options.ts";
import { Progress, size } from "./dataset/progress.ts";
import { type Terminal, terminalOf } from "./shared/terminal.ts";

const ENVIRONMENT_FILE = ".env";
const DONE = 0;
const REFUSED = 1;
const NOT_SENT = 2;

const NOT_FOUND = 404;
const CONFLICT = 409;

onReaderGone(() => process.exit());
try {
  if (existsSync(ENVIRONMENT_FILE)) process.loadEnvFile(ENVIRONMENT_FILE);
  const options = readOptions(process.argv.slice(2), process.env);
  if (options) process.exitCode = await run(options);
  else console.log(USAGE);
} catch (error) {
  const expected = error instanceof UsageError || error instanceof RequestFailed;
  console.error(expected ? error.message : error);
  process.exitCode = NOT_SENT;
}

/** @returns the exit status. @throws NotAsked */
async function run({ command, url, key, json }: DatasetOptions): Promise<number> {
  const answer = await perform(command, url, key);
  if (json) process.stdout.write(`${answer.text}\n`);
  const refused = answer.kind === "refused";
  // With --json, standard output is reserved for the object.
  const terminal = terminalOf(json || refused ? process.stderr : process.stdout);
  if (refused) printRefusal(answer.refusal, terminal);
  else if (!json) {
    if (answer.kind === "dataset") printDataset(answer.dataset, terminal);
    if (command.kind === "delete") terminal.line("the dataset is deleted");
    printSandboxes(answer.sandboxes, terminal);
  }
  return refused ? REFUSED : DONE;
}

function perform(command: Command, url: URL, key: string): Promise<Answer> {
  switch (command.kind) {
    case "upload":
      return upload(command, url, key);
    case "show":
      return ask({ method: "GET", url, key });
    case "delete":
      return ask({ method: "DELETE", url, key });
  }
}

async function upload(
  { file, format, existing }: Command & { kind: "upload" },
  url: URL,
  key: string,
): Promise<Answer> {
  const refused = await checkBeforeUpload(existing, url, key);
  if (refused) return refused;
  const { bytes, length } = await openFile(file);
  if (file !== "-") url.searchParams.set("file_name", basename(file));
  if (format !== undefined) url.searchParams.set("format", format);
  if (existing === "replace") url.searchParams.set("replace", "true");
  const progress = new Progress(process.stderr, length);
  const onSent = (sent: number) => progress.update(sent);
  try {
    return await ask({ method: "POST", url, key, body: { bytes, length, onSent } });
  } finally {
    progress.end();
    bytes.destroy();
  }
}

/** Checks what would refuse the upload regardless of the file (key, existing dataset) before sending it. */
async function checkBeforeUpload(
  existing: "keep" | "replace",
  url: URL,
  key: string,
): Promise<Answer | undefined> {
  const there = await ask({ method: "GET", url, key });
  if (there.kind === "refused") return there.status === NOT_FOUND ? undefined : there;
  if (there.kind !== "dataset" || existing === "replace") return undefined;
  const { rows, file_name } = there.dataset;
  const message = `there is a dataset already: ${rows.toLocaleString("en")} rows of ${file_name ?? "standard input"}; --replace replaces it with this file`;
  const text = JSON.stringify({ error: { code: "conflict", message } });
  return { kind: "refused", status: CONFLICT, refusal: { message, problems: [] }, text };
}

async function openFile(file: string): Promise<{ bytes: Readable; length: number | undefined }> {
  if (file === "-") return { bytes: process.stdin, length: undefined };
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new Error("it is a folder");
    // A pipe or a device has no length.
    return { bytes: createReadStream(file), length: found.isFile() ? found.size : undefined };
  } catch (error) {
    throw new RequestFailed(
      `${file} cannot be read: ${whyUnreadable(error)}; name a CSV or NDJSON file, or - for standard input`,
    );
  }
}

function whyUnreadable(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  if (code === "ENOENT") return `there is no such file, looked for from ${process.cwd()}`;
  return code === "EACCES" ? "it may not be read" : error.message;
}

function printDataset(dataset: DatasetAnswer, terminal: Terminal): void {
  const { rows, columns, time_field, time_range, bytes, format, file_name, created_at } = dataset;
  const { bold, dim, line } = terminal;
  line(
    `${bold(`${rows.toLocaleString("en")} rows`)} of ${file_name ?? "standard input"} (${format}, ${size(bytes)}, ${created_at})`,
  );
  if (time_field === null) line("no column says when an event happened");
  else {
    const range = time_range === null ? "" : `: ${time_range.from} to ${time_range.to}`;
    line(`time is ${bold(time_field)}${range}`);
  }
  line();
  const width = Math.min(40, Math.max(...columns.map(({ name }) => name.length)));
  for (const { name, type, multi, note } of columns) {
    const kind = multi ? `${type}, several values` : type;
    line(`  ${name.padEnd(width)}  ${kind}${note === undefined ? "" : dim(`  ${note}`)}`);
  }
}

function printSandboxes(sandboxes: readonly ResetSandbox[], terminal: Terminal): void {
  const reset = sandboxes.filter(({ problem }) => problem === undefined).map(({ id }) => id);
  if (reset.length > 0) terminal.line(terminal.good(`reset: ${reset.join(", ")}`));
  for (const { id, problem } of sandboxes) {
    if (problem !== undefined) terminal.line(terminal.bad(`${id} could not be reset: ${problem}`));
  }
}

function printRefusal({ message, problems, total_problems }: Refusal, terminal: Terminal): void {
  terminal.line(terminal.bad(message));
  for (const { line, column, rule } of problems) {
    const place = [line === undefined ? "" : `line ${line}`, column === undefined ? "" : `column ${column}`];
    const where = place.filter((part) => part !== "").join(", ");
    terminal.line(`  ${where === "" ? "" : `${terminal.bold(where)}  `}${rule}`);
  }
  const more = (total_problems ?? problems.length) - problems.length;
  if (more > 0) terminal.line(`  and ${more} more`);
}
