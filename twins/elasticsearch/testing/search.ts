/** The search twin in a sandbox of its own, with the vendor's client, for tests. */
import { Client } from "@elastic/elasticsearch";
import engine from "@offhook/engine";
import type { RunningTwins } from "@offhook/platform/server/start";
import { type Answer, request } from "@offhook/platform/testing/http";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import search from "../index.ts";

export interface SearchSandbox {
  twins: RunningTwins;
  url: string;
  /** Sends its bodies compressed. */
  client: Client;
  /** A request without the client: a body that is an object goes as JSON. */
  raw(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** `/sim` of the twin, with the key. */
  control(method: string, path: string, body?: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

/** @param config of the service, as it stands in an environment file */
export async function startSearch(config: Record<string, unknown> = {}): Promise<SearchSandbox> {
  const service = `version: 1\nservices:\n  - name: elasticsearch\n    config: ${JSON.stringify(config)}\n`;
  const twins = await startEnvironment(service, { twins: [engine, search] });
  const { url, control_url } = addressesOf(twins, "elasticsearch");
  const client = new Client({ node: url, maxRetries: 0, compression: true });
  return {
    twins,
    url,
    client,
    raw: (method, path, body, headers = { "content-type": "application/json" }) =>
      request(method, `${url}${path}`, { headers, body }),
    control: (method, path, body) =>
      request(method, `${control_url}/sim${path}`, {
        headers: { "content-type": "application/json", "x-api-key": twins.apiKey },
        body,
      }),
    async stop() {
      await client.close();
      await twins.stop();
    },
  };
}
