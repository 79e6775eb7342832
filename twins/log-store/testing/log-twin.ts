/** A small log twin for tests of the platform: it counts the rows of its dataset, and those that somebody added. */
import { DuckDBInstance } from "@duckdb/node-api";
import { operation } from "@offhook/platform/http/operation";
import { shopRefusal } from "@offhook/platform/testing/shop-twin";
import { defineTwin, type RunningTwin, type TwinContext } from "@offhook/platform/twin/twin";
import { createMemoryWorld } from "@offhook/platform/world/memory-world";
import { z } from "zod";
import { openDatasetLibrary } from "../library/library.ts";

interface LogTwin extends RunningTwin {
  /** Rows of the dataset, by what the twin opened last; it opens it when somebody asks. */
  count(): Promise<number | null>;
}

/** @param name its service name */
export function createLogTwin(name = "logs") {
  return defineTwin<{ fails?: boolean | undefined }, LogTwin>({
    name,
    vendor: "The Log",
    versions: ["1"],
    config: z.strictObject({ fails: z.boolean().optional() }),
    takesDataset: openDatasetLibrary,
    operations: [
      operation<LogTwin>({
        id: "rows.count",
        method: "GET",
        path: "/count",
        surface: "rest",
        summary: "How many rows there are.",
        handle: async (_request, twin) => ({ status: 200, body: { rows: await twin.count() } }),
      }),
    ],
    refusal: shopRefusal,
    start: async (context, { fails = false }) => startLogTwin(context, fails),
    clientEnvironment: (url) => ({ LOGS_URL: url }),
  });
}

function startLogTwin(context: TwinContext, fails: boolean): LogTwin {
  let counted: Promise<number | null> | undefined;
  return {
    world: createMemoryWorld({}),
    count() {
      counted ??= countRows(context.dataset?.()?.file);
      return counted;
    },
    async reset() {
      if (fails) throw new Error("the disk is full");
      counted = undefined;
    },
    stop: async () => undefined,
  };
}

async function countRows(file: string | undefined): Promise<number | null> {
  if (file === undefined) return null;
  const database = await DuckDBInstance.create(file, { access_mode: "READ_ONLY" });
  const connection = await database.connect();
  try {
    const reader = await connection.runAndReadAll("SELECT count(*) FROM documents");
    return Number(reader.getRows()[0]?.[0]);
  } finally {
    connection.closeSync();
    database.closeSync();
  }
}
