/** The programs of one run and the folder that all their files are in. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Child, startChild } from "@offhook/platform/testing/bench/child";
import type { FloorQuestions, TwinQuestions } from "./questions.ts";

export interface House {
  folder: string;
  /** Where the twins keep datasets. */
  datasetFolder: string;
  startTwin(): Child<TwinQuestions>;
  startFloor(): Child<FloorQuestions>;
  /** Ends every program and removes every file. */
  close(): Promise<void>;
}

export async function openHouse(): Promise<House> {
  const folder = await mkdtemp(path.join(tmpdir(), "offhook-bench-search-"));
  const temporary = path.join(folder, "temporary");
  await mkdir(temporary);
  const children: { stop(): Promise<void> }[] = [];
  const kept = <Started extends { stop(): Promise<void> }>(child: Started): Started => {
    children.push(child);
    return child;
  };
  return {
    folder,
    datasetFolder: path.join(folder, "datasets"),
    startTwin: () => kept(startChild<TwinQuestions>("./search/twin-program.ts", [], temporary)),
    startFloor: () => kept(startChild<FloorQuestions>("./search/floor-program.ts", [], temporary)),
    async close() {
      await Promise.all(children.map((child) => child.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
