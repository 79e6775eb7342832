/** The programs of one run and the folder that all their files are in. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Child, type Questions, startChild } from "@offhook/platform/testing/bench/child";

export interface House {
  folder: string;
  /** Where the twins keep datasets. */
  datasetFolder: string;
  /** Starts a program whose temporary files are in the folder. */
  start<Q extends Questions<Q>>(program: URL): Child<Q>;
  /** Ends every program and removes every file. */
  close(): Promise<void>;
}

export async function openHouse(): Promise<House> {
  const folder = await mkdtemp(path.join(tmpdir(), "offhook-bench-search-"));
  const temporary = path.join(folder, "temporary");
  await mkdir(temporary);
  const children: { stop(): Promise<void> }[] = [];
  return {
    folder,
    datasetFolder: path.join(folder, "datasets"),
    start<Q extends Questions<Q>>(program: URL) {
      const child = startChild<Q>(program, [], temporary);
      children.push(child);
      return child;
    },
    async close() {
      await Promise.all(children.map((child) => child.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
