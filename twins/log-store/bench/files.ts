/** The files that `bench search` uploads: the same events as NDJSON and as CSV. */

import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { finished } from "node:stream/promises";
import { z } from "zod";
import { logEvents } from "../made-logs.ts";
import type { Facts } from "./facts.ts";
import type { DatasetFormat } from "./questions.ts";

/** Written at once. */
const BLOCK_CHARACTERS = 1 << 20;
/** How many events' traces the questions know. */
const TRACES = 16;

export interface DatasetFiles {
  files: Record<DatasetFormat, string>;
  facts: Facts;
}

const traced = z.object({ trace: z.object({ id: z.string() }) });

export async function writeDatasets(folder: string, events: number): Promise<DatasetFiles> {
  const files = { ndjson: path.join(folder, "events.ndjson"), csv: path.join(folder, "events.csv") };
  const out = { ndjson: blocksInto(files.ndjson), csv: blocksInto(files.csv) };
  const traces: string[] = [];
  const each = Math.floor(events / TRACES);
  let row = 0;
  await out.csv.write(`${csvColumns.join(",")}\n`);
  for (const line of logEvents(events)) {
    const event: unknown = JSON.parse(line);
    if (row % each === Math.floor(each / 2)) traces.push(traced.parse(event).trace.id);
    row++;
    await out.ndjson.write(`${line}\n`);
    await out.csv.write(`${csvColumns.map((column) => cell(valueAt(event, column))).join(",")}\n`);
  }
  await Promise.all([out.ndjson.end(), out.csv.end()]);
  return { files, facts: { events, traces } };
}

/** Dotted names, as a spreadsheet of the events would have them. */
const csvColumns = [
  "@timestamp",
  "service.name",
  "service.version",
  "log.level",
  "log.logger",
  "message",
  "host.name",
  "trace.id",
  "http.request.method",
  "http.response.status_code",
  "url.path",
  "event.duration",
  "error.type",
  "error.message",
];

function valueAt(event: unknown, column: string): unknown {
  return column
    .split(".")
    .reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), event);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function cell(value: unknown): string {
  const text = value === undefined ? "" : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Few large writes in place of many small ones. */
function blocksInto(file: string): { write(text: string): Promise<void>; end(): Promise<void> } {
  const stream: WriteStream = createWriteStream(file);
  let block = "";
  const flush = async () => {
    const written = stream.write(block);
    block = "";
    if (!written) await once(stream, "drain");
  };
  return {
    async write(text) {
      block += text;
      if (block.length >= BLOCK_CHARACTERS) await flush();
    },
    async end() {
      await flush();
      stream.end();
      await finished(stream);
    },
  };
}

/** An environment with the search twin alone. @param dataset file that its dataset is made of; none when absent */
export async function writeEnvironment(folder: string, name: string, dataset?: string): Promise<string> {
  const file = path.join(folder, name);
  const service = { name: "elasticsearch", ...(dataset === undefined ? {} : { dataset }) };
  await writeFile(file, JSON.stringify({ version: 1, services: [service] }));
  return file;
}
