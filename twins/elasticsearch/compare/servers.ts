/** The twin and the real server, both with the same documents in indices of the same names. */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import engine from "@offhook/engine";
import { reasonOf } from "@offhook/platform/base/reason";
import { startTwins } from "@offhook/platform/server/start";
import { type FuzzRequest, Sender } from "@offhook/platform/testing/fuzz/request";
import elasticsearch from "../index.ts";
import type { ComparedAnswer } from "./differences.ts";
import { indices } from "./indices.ts";
import { load } from "./load.ts";

/** Stands for the status where there is no answer. */
const NO_ANSWER = 0;

const ENVIRONMENT = `version: 1
services:
  - name: elasticsearch
    config: { fidelity: vendor }
`;

export interface Servers {
  /** Of the indices' names; no other run has the same. */
  prefix: string;
  askReal(request: FuzzRequest): Promise<ComparedAnswer>;
  askTwin(request: FuzzRequest): Promise<ComparedAnswer>;
  /** Stops the twin and deletes the indices of the real server. */
  close(): Promise<void>;
}

/**
 * @param realUrl address of an Elasticsearch 8.15 without credentials
 * @throws Error when the real server does not answer or a document is refused
 */
export async function openServers(realUrl: string): Promise<Servers> {
  const prefix = `compare-${randomBytes(4).toString("hex")}-`;
  const folder = await mkdtemp(join(tmpdir(), "offhook-compare-"));
  const sender = new Sender();
  const environmentFile = join(folder, "environment.yaml");
  await writeFile(environmentFile, ENVIRONMENT);
  const twins = await startTwins({ environmentFile, datasetFolder: folder, twins: [engine, elasticsearch] });
  const twinUrl = twins.sandboxes[0]?.twins.find(({ name }) => name === "elasticsearch")?.url ?? "";
  const asker = (url: string) => async (request: FuzzRequest) => {
    try {
      const { status, body } = await sender.send(url, request);
      return { status, body: parsed(body) };
    } catch (error) {
      // The real one closes the connection when it fails while it writes an answer.
      return { status: NO_ANSWER, body: { error: reasonOf(error) } };
    }
  };
  const [askReal, askTwin] = [asker(realUrl.replace(/\/$/, "")), asker(twinUrl)];
  const close = async () => {
    for (const name of Object.keys(indices)) {
      const path = `/${prefix}${name}`;
      await askReal({ method: "DELETE", path, headers: {}, body: undefined }).catch(() => undefined);
    }
    sender.close();
    await twins.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const [name, definition] of Object.entries(indices)) {
      for (const ask of [askReal, askTwin]) await load(ask, `${prefix}${name}`, definition);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { prefix, askReal, askTwin, close };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
