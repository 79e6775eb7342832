/** How fast a file becomes a dataset, beside DuckDB's own reader of the same file. */
import path from "node:path";
import type { DatasetFiles } from "@offhook/log-store/bench/files";
import type { DatasetFormat, FloorQuestions, RunningTwin } from "@offhook/log-store/bench/questions";
import type { Child } from "@offhook/platform/testing/bench/child";
import { type BenchOptions, type Figure, figure } from "@offhook/platform/testing/bench/report";
import { deleteDataset, upload } from "./http.ts";

const shown: Record<DatasetFormat, string> = { csv: "CSV", ndjson: "NDJSON" };

/** The twin has the NDJSON file in the end, and so has the database that is answered. */
export async function uploads(
  { files, facts }: DatasetFiles,
  twin: RunningTwin,
  floor: Child<FloorQuestions>,
  folder: string,
  { progress }: BenchOptions,
): Promise<{ figures: Figure[]; database: string }> {
  const figures: Figure[] = [];
  const databaseOf = (format: DatasetFormat) => path.join(folder, `${format}.duckdb`);
  for (const format of ["csv", "ndjson"] as const) {
    if (figures.length > 0) await deleteDataset(twin);
    const loaded = await floor.ask("load", { file: files[format], format, database: databaseOf(format) });
    if (loaded.rows !== facts.events) throw new Error(`DuckDB read ${loaded.rows} rows of ${facts.events}`);
    const beganAt = performance.now();
    await upload(twin, files[format], format);
    const rates = {
      floor: facts.events / (loaded.ms / 1000),
      measured: facts.events / ((performance.now() - beganAt) / 1000),
    };
    progress(
      `${shown[format]}: ${Math.round(rates.measured)} rows/s; DuckDB's reader ${Math.round(rates.floor)}`,
    );
    const value = rates.measured / rates.floor;
    figures.push(
      figure({
        name: `upload, ${shown[format]}`,
        unit: "rows/s",
        floor: Math.round(rates.floor),
        measured: Math.round(rates.measured),
        value,
      }),
    );
  }
  return { figures, database: databaseOf("ndjson") };
}
