/** Prints the twins' answers about a dataset. */
import type { Terminal } from "../shared/terminal.ts";
import type { DatasetAnswer, Refusal, ResetSandbox } from "./ask.ts";
import { size } from "./progress.ts";

export function printDataset(dataset: DatasetAnswer, terminal: Terminal): void {
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

export function printSandboxes(sandboxes: readonly ResetSandbox[], terminal: Terminal): void {
  const reset = sandboxes.filter(({ problem }) => problem === undefined).map(({ id }) => id);
  if (reset.length > 0) terminal.line(terminal.good(`reset: ${reset.join(", ")}`));
  for (const { id, problem } of sandboxes) {
    if (problem !== undefined) terminal.line(terminal.bad(`${id} could not be reset: ${problem}`));
  }
}

export function printRefusal({ message, problems, total_problems }: Refusal, terminal: Terminal): void {
  terminal.line(terminal.bad(message));
  for (const { line, column, rule } of problems) {
    const place = [line === undefined ? "" : `line ${line}`, column === undefined ? "" : `column ${column}`];
    const where = place.filter((part) => part !== "").join(", ");
    terminal.line(`  ${where === "" ? "" : `${terminal.bold(where)}  `}${rule}`);
  }
  const more = (total_problems ?? problems.length) - problems.length;
  if (more > 0) terminal.line(`  and ${more} more`);
}
