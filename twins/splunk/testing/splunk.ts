/** The log-query twin in a sandbox of its own, with a port of its own as the vendor's client needs it. */

import engine from "@offhook/engine";
import type { RunningTwins } from "@offhook/platform/server/start";
import { type Answer, request } from "@offhook/platform/testing/http";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import type { OpenDatasetLibrary } from "@offhook/platform/twin/dataset";
import splunkjs from "splunk-sdk";
import splunk from "../index.ts";

export interface SplunkSandbox {
  twins: RunningTwins;
  /** At its own port: the vendor's paths are at the root. */
  url: string;
  /** The vendor's client, not logged in. */
  client(options?: { app?: string; owner?: string }): InstanceType<typeof splunkjs.Service>;
  /** A request with the seeded token: parameters go as a form, or in the address of a GET or DELETE. */
  ask(
    method: string,
    path: string,
    parameters?: Parameters,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** `/sim` of the twin, with the key. */
  control(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Adds events: members of the world's table `events`. */
  add(...events: readonly object[]): Promise<void>;
  /** Resolves when a job is in a state, by the list of jobs: it counts nothing, and is no question about that job. */
  reached(sid: string, state: string): Promise<void>;
  stop(): Promise<void>;
}

interface ListedJob {
  content: { sid: string; dispatchState: string };
}

export type Parameters = Readonly<Record<string, string | number | readonly string[]>>;

/** @param dataset a store's file that is ready, whose events it begins with */
export async function startSplunk(
  config: Record<string, unknown> = {},
  dataset?: string,
): Promise<SplunkSandbox> {
  const service = { name: "splunk", port: 0, config, ...(dataset === undefined ? {} : { dataset }) };
  const takesDataset = dataset === undefined ? splunk.takesDataset : ready(dataset);
  const twins = await startEnvironment(JSON.stringify({ version: 1, services: [service] }), {
    twins: [engine, { ...splunk, ...(takesDataset && { takesDataset }) }],
  });
  const { control_url, port_url: url } = addressesOf(twins, "splunk");
  if (url === undefined) throw new Error("the twin has no port of its own");
  const { hostname, port } = new URL(url);
  const control = (method: string, path: string, body?: unknown) =>
    request(method, `${control_url}/sim${path}`, {
      headers: { "content-type": "application/json", "x-api-key": twins.apiKey },
      body,
    });
  const ask: SplunkSandbox["ask"] = (method, path, parameters = {}, headers = {}) => {
    const form = formOf(parameters);
    const inAddress = method === "GET" || method === "DELETE";
    const address = inAddress && form !== "" ? `${url}${path}?${form}` : `${url}${path}`;
    return request(method, address, {
      headers: {
        authorization: "Bearer splunk-twin-token",
        ...(inAddress ? {} : { "content-type": "application/x-www-form-urlencoded" }),
        ...headers,
      },
      ...(inAddress ? {} : { body: form }),
    });
  };
  return {
    twins,
    url,
    client: (options = {}) =>
      new splunkjs.Service({
        scheme: "http",
        host: hostname,
        port,
        username: "admin",
        password: "splunk-twin-password",
        ...options,
      }),
    ask,
    control,
    async add(...events) {
      const answer = await control("POST", "/data", { data: { events } });
      if (answer.status !== 200 && answer.status !== 201) throw new Error(answer.text);
    },
    async reached(sid, state) {
      const isSo = ({ content }: ListedJob) => content.sid === sid && content.dispatchState === state;
      for (;;) {
        const { entry } = (await ask("GET", "/services/search/v2/jobs", { output_mode: "json", count: 0 }))
          .body;
        if (entry.some(isSo)) return;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    stop: () => twins.stop(),
  };
}

/** Takes whatever it is given for the store of this file. */
function ready(file: string): OpenDatasetLibrary {
  const facts = {
    file_name: null,
    format: "ndjson",
    sha256: "",
    bytes: 0,
    created_at: "2026-01-01T00:00:00.000Z",
  };
  const description = { ...facts, rows: 0, columns: [], time_field: null, time_range: null, sample: [] };
  const dataset = { file, description, release: async () => {} };
  const take = async () => dataset;
  return async () => ({ fromFile: take, fromStream: take, close: async () => {} });
}

function formOf(parameters: Parameters): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of typeof value === "object" ? value : [value]) form.append(name, String(one));
  }
  return form.toString();
}
