/** Writes and checks the shipped log dataset. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { logEvents } from "@offhook/log-store/testing/log-events";

/** Path within the samples' folder. */
export const DATASET_FILE = "datasets/hotline.ndjson.gz";

/** Writes the dataset unless the file has the same events: versions of zlib compress differently. @returns their number */
export function makeDataset(samplesFolder: string): number {
  const events = [...logEvents()];
  const file = join(samplesFolder, DATASET_FILE);
  mkdirSync(dirname(file), { recursive: true });
  const text = linesOf(events);
  if (storedText(file) !== text) writeFileSync(file, gzipSync(text, { level: 9 }));
  return events.length;
}

export function isDatasetAsMade(samplesFolder: string): boolean {
  return storedText(join(samplesFolder, DATASET_FILE)) === linesOf([...logEvents()]);
}

function linesOf(events: readonly string[]): string {
  return `${events.join("\n")}\n`;
}

function storedText(file: string): string | undefined {
  try {
    return gunzipSync(readFileSync(file)).toString();
  } catch {
    return undefined;
  }
}
