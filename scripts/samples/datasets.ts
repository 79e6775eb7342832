/** Writes and checks the shipped log datasets: each has a maker beside it, found by being there. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";

const FOLDER = "datasets";

/** What a maker exports as its default. */
const maker = z.object({
  default: z.object({
    /** Name of the dataset's file, in the maker's folder. */
    file: z.string().endsWith(".gz"),
    lines: z.custom<() => Iterable<string>>((value) => typeof value === "function", "must be a function"),
  }),
});

export interface ShippedDataset {
  /** Relative to the samples' folder. */
  file: string;
  maker: string;
  /** Writes the dataset unless the file has the same events: versions of zlib compress differently. @returns their number */
  make(): number;
  isAsMade(): boolean;
}

/** @throws ZodError when a maker exports something else */
export async function readDatasets(samplesFolder: string): Promise<ShippedDataset[]> {
  const folder = join(samplesFolder, FOLDER);
  const makers = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".ts")) : [];
  return Promise.all(
    makers.map(async (name) => {
      const module = await import(pathToFileURL(join(folder, name)).href);
      const { file, lines } = maker.parse(module).default;
      const path = join(folder, file);
      return {
        file: `${FOLDER}/${file}`,
        maker: `${FOLDER}/${name}`,
        make() {
          const events = [...lines()];
          const text = textOf(events);
          if (storedText(path) !== text) writeFileSync(path, gzipSync(text, { level: 9 }));
          return events.length;
        },
        isAsMade: () => storedText(path) === textOf([...lines()]),
      };
    }),
  );
}

function textOf(events: readonly string[]): string {
  return `${events.join("\n")}\n`;
}

function storedText(file: string): string | undefined {
  try {
    return gunzipSync(readFileSync(file)).toString();
  } catch {
    return undefined;
  }
}
